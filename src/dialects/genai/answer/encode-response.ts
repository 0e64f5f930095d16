import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { judgeBrokenCall } from "../../answer/judge-broken-call.ts";
import { Paragraphs } from "../../answer/paragraphs.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { CarriedThoughts } from "../carried-thoughts.ts";
import { type AnswerOptions, encodeAnswerPart, isUnseen } from "../content.ts";
import type { GenaiOptions } from "../options.ts";
import { AnswerEnvelope, encodeClosing, hidesThoughts } from "./answer-envelope.ts";
import { GroundingWriter } from "./grounding.ts";

export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext<GenaiOptions>): string {
  const { note } = context;
  const answerOptions: AnswerOptions = {
    hideThoughts: hidesThoughts(context),
    breakCall: (name) => judgeBrokenCall(name, reply.stop, { note, action: "dropped" }),
    note,
  };
  const grounding = new GroundingWriter();
  const paragraphs = new Paragraphs();
  const thoughts = new CarriedThoughts();
  const written = reply.parts.map((part, block): ReplyPart => {
    if (isUnseen(part)) paragraphs.break();
    switch (part.type) {
      case "text": {
        if (part.apart) paragraphs.break();
        const between = paragraphs.before(part.text);
        grounding.between(between);
        grounding.text(block, part.text);
        for (const citation of part.citations ?? []) grounding.cite(block, citation);
        return between === "" ? part : { ...part, text: between + part.text };
      }
      case "refusal":
        grounding.text(block, part.text);
        return part;
      case "server-tool-call":
      case "server-tool-result":
        grounding.search(part);
        return part;
      case "reasoning":
        thoughts.think(part.text, part.signature);
        return part;
      case "tool-call":
        return thoughts.sign(part);
      default:
        return part;
    }
  });
  const parts = written.flatMap((part) => encodeAnswerPart(part, answerOptions));
  const closing = encodeClosing(
    withoutAbsent({
      stop: reply.stop,
      stopDetail: reply.stopDetail,
      stopCategory: reply.stopCategory,
      refused: reply.parts.some(({ type }) => type === "refusal"),
      grounding,
      logprobs: reply.logprobs ?? [],
    }),
    context,
  );
  const envelope = new AnswerEnvelope(context);
  envelope.name(reply.id);
  // A response that was filtered has no content at all.
  const content = parts.length > 0 ? { content: { role: "model", parts } } : withoutParts(reply);
  return envelope.wrap({ ...content, ...closing }, reply.usage);
}

const withoutParts = ({ stop }: CanonReply): { content?: object } =>
  stop.unified === "filter" ? {} : { content: { role: "model", parts: [{ text: "" }] } };
