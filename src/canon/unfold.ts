import type { CanonEvent } from "./event.ts";
import type { CanonReply, ReplyPart } from "./reply.ts";

/** The stream that folds to this response. */
export function* unfold(reply: CanonReply): Generator<CanonEvent> {
  const { id, created, parts, usage, logprobs, stop, stopSequence, stopDetail } = reply;
  yield { type: "metadata", ...(id === undefined ? {} : { id }), ...(created === undefined ? {} : { created }) };
  for (const [block, part] of parts.entries()) yield* unfoldPart(part, block);
  if (logprobs !== undefined) yield { type: "logprobs", tokens: logprobs };
  if (usage !== undefined) yield { type: "usage", usage };
  yield {
    type: "finish",
    stop,
    ...(stopSequence === undefined ? {} : { stopSequence }),
    ...(stopDetail === undefined ? {} : { stopDetail }),
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
