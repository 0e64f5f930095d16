import { withoutAbsent } from "../base/without-absent.ts";
import type { Citation } from "./citation.ts";
import { GatewayError } from "./error.ts";
import type { CanonEvent } from "./event.ts";
import type { CanonReply, ReplyPart, TokenLogprob } from "./reply.ts";

type OpenPart = Extract<ReplyPart, { type: "text" | "reasoning" | "refusal" | "tool-call" }>;

/**
 * Collects a streamed response into a whole one. Parts are in the order in which their blocks began. Throws the error of an `error` event.
 */
export function fold(events: Iterable<CanonEvent>): CanonReply {
  const parts: ReplyPart[] = [];
  const open = new Map<number, OpenPart>();
  const cited = new Map<OpenPart, Citation[]>();
  const logprobs: TokenLogprob[] = [];
  let reply: Omit<CanonReply, "parts" | "stop"> = {};
  const begin = (block: number, part: OpenPart) => {
    open.set(block, part);
    parts.push(part);
  };
  const at = <T extends OpenPart["type"]>(block: number, type: T): Extract<OpenPart, { type: T }> => {
    const part = open.get(block);
    if (part?.type !== type) throw new Error(`block ${block} is not an open block of type ${type}`);
    return part as Extract<OpenPart, { type: T }>;
  };
  for (const event of events) {
    switch (event.type) {
      case "metadata": {
        const { type: _type, ...metadata } = event;
        reply = { ...reply, ...metadata };
        break;
      }
      case "text-start":
        begin(event.block, { type: "text", text: "", ...(event.apart ? { apart: true } : {}) });
        break;
      case "refusal-start":
        begin(event.block, { type: "refusal", text: "" });
        break;
      case "reasoning-start":
        begin(event.block, { type: "reasoning", text: "", ...(event.summary ? { summary: true } : {}) });
        break;
      case "tool-input-start": {
        const { type: _type, block, ...call } = event;
        begin(block, { type: "tool-call", input: "", ...call });
        break;
      }
      case "text-delta":
        at(event.block, "text").text += event.text;
        break;
      case "refusal-delta":
        at(event.block, "refusal").text += event.text;
        break;
      case "reasoning-delta":
        at(event.block, "reasoning").text += event.text;
        break;
      case "tool-input-delta":
        at(event.block, "tool-call").input += event.text;
        break;
      case "citation": {
        const part = at(event.block, "text");
        let citations = cited.get(part);
        if (citations === undefined) {
          citations = [];
          cited.set(part, citations);
          part.citations = citations;
        }
        citations.push(event.citation);
        break;
      }
      case "text-end":
      case "reasoning-end":
      case "tool-input-end":
      case "refusal-end": {
        const part = open.get(event.block);
        if (part === undefined) throw new Error(`block ${event.block} ends before it has started`);
        if ("signature" in event && event.signature !== undefined) part.signature = event.signature;
        open.delete(event.block);
        break;
      }
      case "whole":
        parts.push(event.part);
        break;
      case "logprobs":
        for (const token of event.tokens) logprobs.push(token);
        break;
      case "usage":
        reply = { ...reply, usage: event.usage };
        break;
      case "finish": {
        const { type: _type, ...finish } = event;
        return { ...reply, ...(logprobs.length > 0 ? { logprobs } : {}), parts, ...finish };
      }
      case "error":
        throw event.error;
      default:
        event satisfies never;
    }
  }
  throw new GatewayError("upstream_failed", "The response is incomplete.");
}

/** The stream that folds to this response. */
export function* unfold(reply: CanonReply): Generator<CanonEvent> {
  const { id, created, parts, usage, logprobs, stop, stopSequence, stopDetail, stopCategory } = reply;
  yield { type: "metadata", ...withoutAbsent({ id, created }) };
  for (const [block, part] of parts.entries()) yield* unfoldPart(part, block);
  if (logprobs !== undefined) yield { type: "logprobs", tokens: logprobs };
  if (usage !== undefined) yield { type: "usage", usage };
  yield {
    type: "finish",
    stop,
    ...withoutAbsent({ stopSequence, stopDetail, stopCategory }),
  };
}

function* unfoldPart(part: ReplyPart, block: number): Generator<CanonEvent> {
  const signature = part.signature === undefined ? {} : { signature: part.signature };
  switch (part.type) {
    case "text":
      yield { type: "text-start", block, ...(part.apart ? { apart: true } : {}) };
      if (part.text !== "") yield { type: "text-delta", block, text: part.text };
      for (const citation of part.citations ?? []) yield { type: "citation", block, citation };
      yield { type: "text-end", block, ...signature };
      return;
    case "reasoning":
      yield { type: "reasoning-start", block, ...(part.summary ? { summary: true } : {}) };
      if (part.text !== "") yield { type: "reasoning-delta", block, text: part.text };
      yield { type: "reasoning-end", block, ...signature };
      return;
    case "refusal":
      yield { type: "refusal-start", block };
      if (part.text !== "") yield { type: "refusal-delta", block, text: part.text };
      yield { type: "refusal-end", block };
      return;
    case "tool-call": {
      const { id, name, custom } = part;
      yield { type: "tool-input-start", block, id, name, ...(custom ? { custom } : {}), ...signature };
      if (part.input !== "") yield { type: "tool-input-delta", block, text: part.input };
      yield { type: "tool-input-end", block };
      return;
    }
    default:
      yield { type: "whole", block, part };
  }
}
