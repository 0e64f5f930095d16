import type { JsonObject } from "../../base/json.ts";
import type { CanonEvent } from "../../canon/event.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { CanonReply, ReplyPart } from "../../canon/reply.ts";
import { readFrames, type SseFrame } from "../../wire/sse.ts";
import type { DecodeAnswerContext, EncodeAnswerContext } from "../codec.ts";
import { MessagesStreamDecoder } from "./answer/decode-stream.ts";
import { MessagesStreamEncoder } from "./answer/encode-stream.ts";
import { DEFAULT_MESSAGES_QUIRKS } from "./quirks.ts";

/** Shared by the tests of both directions of a stream. */
export function decodeContext(): DecodeAnswerContext {
  let count = 0;
  return { origin: "messages", quirks: DEFAULT_MESSAGES_QUIRKS, reading: {}, makeId: () => `made${++count}` };
}

export function encodeContext(request: JsonObject = {}, reported: FieldNote[] = []): EncodeAnswerContext {
  let count = 0;
  return {
    publicModel: "acme/model",
    request,
    options: undefined,
    receivedAtMs: 1_700_000_000_000,
    makeId: () => `made${++count}`,
    costUsd: () => 0,
    nowSeconds: () => 0,
    estimateInputTokens: () => 42,
    note: (note) => void reported.push(note),
  };
}

export function decodeAll(frames: readonly SseFrame[]): CanonEvent[] {
  const decoder = new MessagesStreamDecoder(decodeContext());
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

export function encodeAll(events: Iterable<CanonEvent>, request: JsonObject = {}, reported: FieldNote[] = []): string {
  const encoder = new MessagesStreamEncoder(encodeContext(request, reported));
  return [...events].map((event) => encoder.push(event)).join("");
}

export const frame = (event: JsonObject): SseFrame =>
  readFrames(`event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`)[0] as SseFrame;

type Wire = Record<string, never> & { [key: string]: unknown };

/** A streamed response as a complete one, assembled independently of the codec. */
export function assemble(frames: readonly SseFrame[]): JsonObject {
  let message: Record<string, unknown> = {};
  const content: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const { data } of frames) {
    const event = JSON.parse(data ?? "{}") as {
      type: string;
      index: number;
      message: Wire;
      content_block: Wire;
      delta: Wire;
      usage?: Wire;
    };
    const { index, delta } = event;
    const block = content[index] as Record<string, unknown>;
    if (event.type === "message_start") message = { ...event.message };
    else if (event.type === "content_block_start") content[index] = { ...event.content_block };
    else if (event.type === "content_block_delta") {
      if (delta["type"] === "text_delta") block["text"] = `${block["text"]}${delta["text"]}`;
      if (delta["type"] === "thinking_delta") block["thinking"] = `${block["thinking"]}${delta["thinking"]}`;
      if (delta["type"] === "signature_delta") block["signature"] = delta["signature"];
      if (delta["type"] === "citations_delta") {
        block["citations"] = [...((block["citations"] as unknown[] | undefined) ?? []), delta["citation"]];
      }
      if (delta["type"] === "input_json_delta") {
        inputs.set(index, `${inputs.get(index) ?? ""}${delta["partial_json"]}`);
      }
    } else if (event.type === "message_delta") {
      const { usage: _usage, ...rest } = delta;
      message = { ...message, ...rest, usage: { ...(message["usage"] as object), ...event.usage } };
    }
  }
  for (const [index, text] of inputs) if (text !== "") (content[index] as Wire)["input"] = JSON.parse(text) as never;
  return { ...message, content };
}

/** Removes irrelevant differences: spacing of arguments, empty blocks, counters that are 0. */
export function comparable({ parts, usage, ...reply }: CanonReply) {
  const counted = Object.entries(usage ?? {}).filter(([, count]) => count !== 0);
  return {
    ...reply,
    usage: Object.fromEntries(counted),
    parts: parts.filter((part) => !isEmptyText(part)).map(withParsedInput),
  };
}

const isEmptyText = (part: ReplyPart) => part.type === "text" && part.text === "" && part.signature === undefined;

const withParsedInput = (part: ReplyPart) =>
  part.type === "tool-call" || part.type === "server-tool-call"
    ? { ...part, input: JSON.parse(part.input || "{}") as unknown }
    : part;

/** Law 4. */
export function brokenLaw(events: readonly CanonEvent[]): string | undefined {
  const seen = new Set<number>();
  const open = new Map<number, string>();
  for (const [at, event] of events.entries()) {
    const last = at === events.length - 1;
    if ((event.type === "finish" || event.type === "error") !== last) return `${event.type} at ${at}`;
    if (event.type === "finish" && open.size > 0) return "a block is open at the end";
    if (!("block" in event)) continue;
    const { block, type } = event;
    if (type === "whole" || type.endsWith("-start")) {
      if (seen.has(block)) return `block ${block} begins twice`;
      seen.add(block);
      if (type !== "whole") open.set(block, type.slice(0, -6));
    } else if (!open.has(block)) return `${type} of block ${block}, which is not open`;
    else if (type.endsWith("-end")) open.delete(block);
  }
  return undefined;
}
