import type { CanonReply } from "../../canon/reply.ts";
import type { EncodeAnswerContext } from "../codec.ts";
import { judgeBrokenCall } from "../judge-broken-call.ts";
import { AnswerEnvelope, encodeClosing, hidesThoughts } from "./answer-envelope.ts";
import { CarriedThoughts } from "./carried-thoughts.ts";
import { type AnswerOptions, encodeAnswerPart } from "./content.ts";
import { GroundingWriter } from "./grounding.ts";
import type { GenaiOptions } from "./options.ts";

export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext<GenaiOptions>): string {
  const { note } = context;
  const answerOptions: AnswerOptions = {
    hideThoughts: hidesThoughts(context),
    breakCall: (name) => judgeBrokenCall(name, reply.stop, { note, action: "dropped" }),
    note,
  };
  const grounding = new GroundingWriter();
  for (const [block, part] of reply.parts.entries()) {
    if (part.type === "text" || part.type === "refusal") grounding.text(block, part.text);
    if (part.type === "text") for (const citation of part.citations ?? []) grounding.cite(block, citation);
    if (part.type === "server-tool-call" || part.type === "server-tool-result") grounding.search(part);
  }
  const thoughts = new CarriedThoughts();
  const parts = reply.parts.flatMap((part) => {
    if (part.type === "reasoning") thoughts.think(part.text, part.signature);
    return encodeAnswerPart(part.type === "tool-call" ? thoughts.sign(part) : part, answerOptions);
  });
  const closing = encodeClosing(
    {
      stop: reply.stop,
      ...(reply.stopDetail === undefined ? {} : { stopDetail: reply.stopDetail }),
      refused: reply.parts.some(({ type }) => type === "refusal"),
      grounding,
      logprobs: reply.logprobs ?? [],
    },
    context,
  );
  const envelope = new AnswerEnvelope(context);
  envelope.name(reply.id);
  // An answer that was filtered away has no content at all.
  const content = parts.length > 0 ? { content: { role: "model", parts } } : withoutParts(reply);
  return envelope.wrap({ ...content, ...closing }, reply.usage);
}

const withoutParts = ({ stop }: CanonReply): { content?: object } =>
  stop.unified === "filter" ? {} : { content: { role: "model", parts: [{ text: "" }] } };
