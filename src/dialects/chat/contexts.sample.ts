import type { JsonObject } from "../../base/json.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { fold } from "../../canon/fold.ts";
import type { CanonReply } from "../../canon/reply.ts";
import type { ModelTraits } from "../../canon/traits.ts";
import { EventSplitter, readFrames } from "../../wire/sse.ts";
import type { DecodeAnswerContext, EncodeAnswerContext, EncodeRequestContext } from "../codec.ts";
import { chatCodec } from "./codec.ts";
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from "./quirks.ts";

/** Contexts and shortcuts through the codec, for tests. */
export function decodeContext(quirks: Partial<ChatQuirks> = {}): DecodeAnswerContext<ChatQuirks> {
  let made = 0;
  return { origin: "host", quirks: { ...DEFAULT_CHAT_QUIRKS, ...quirks }, reading: {}, makeId: () => `made${made++}` };
}

export function encodeContext(request: JsonObject = {}): EncodeAnswerContext {
  return {
    publicModel: "acme/model",
    request: { stream_options: { include_usage: true }, ...request },
    options: undefined,
    receivedAtMs: 1_700_000_000_000,
    makeId: () => "made",
    costUsd: () => 0.5,
    nowSeconds: () => 1,
    estimateInputTokens: () => 1,
    note: () => undefined,
  };
}

export function requestContext(
  quirks: Partial<ChatQuirks> = {},
  traits: Partial<ModelTraits> = {},
  stream = false,
): EncodeRequestContext<ChatQuirks> {
  return {
    upstreamModel: "m",
    stream,
    traits: { reasoning: true, ...traits },
    quirks: { ...DEFAULT_CHAT_QUIRKS, ...quirks },
    origin: "host",
  };
}

/** All events of a stream whose bytes come in these chunks. */
export function decodeBytes(stream: Iterable<Uint8Array>, quirks?: Partial<ChatQuirks>): CanonEvent[] {
  const splitter = new EventSplitter();
  const decoder = chatCodec.createStreamDecoder(decodeContext(quirks));
  const events: CanonEvent[] = [];
  for (const bytes of stream) for (const frame of readFrames(splitter.push(bytes))) events.push(...decoder.push(frame));
  const rest = splitter.end();
  for (const frame of rest.trim() === "" ? [] : readFrames(rest)) events.push(...decoder.push(frame));
  return [...events, ...decoder.end()];
}

export const decodeText = (text: string, quirks?: Partial<ChatQuirks>): CanonEvent[] =>
  decodeBytes([Buffer.from(text)], quirks);

export const chunksText = (chunks: readonly unknown[], done = true): string =>
  chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("") + (done ? "data: [DONE]\n\n" : "");

export const decodeChunks = (chunks: readonly unknown[], quirks?: Partial<ChatQuirks>, done = true): CanonReply =>
  fold(decodeText(chunksText(chunks, done), quirks));

export const chunk = (delta: object, finish: string | null = null, more: object = {}): JsonObject => ({
  id: "c1",
  created: 5,
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});

export function encodeEvents(events: Iterable<CanonEvent>, request?: JsonObject): string {
  const encoder = chatCodec.createStreamEncoder(encodeContext(request));
  return [...events].map((event) => encoder.push(event)).join("");
}
