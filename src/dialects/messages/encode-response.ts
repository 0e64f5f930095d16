import { objectAt, stringAt } from "../../canon/json.ts";
import type { CanonReply, ReplyPart } from "../../canon/reply.ts";
import { stringifyInOrder } from "../../wire/ordered-json.ts";
import type { EncodeAnswerContext } from "../codec.ts";
import { tokensOfCharacters } from "../estimate-tokens.ts";
import { type AnswerManner, encodeAnswerPart } from "./answer-content.ts";
import { encodeFinish } from "./finish.ts";
import { encodeUsage } from "./usage.ts";

export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string {
  const manner = mannerOf(context);
  const refused = reply.parts.some(({ type }) => type === "refusal");
  return stringifyInOrder({
    id: reply.id ?? `msg_${context.makeId()}`,
    type: "message",
    role: "assistant",
    model: context.publicModel,
    content: reply.parts.flatMap((part) => encodeAnswerPart(part, manner)),
    ...encodeFinish(reply, refused),
    usage: encodeUsage(reply.usage, {
      input: context.estimateInputTokens,
      output: () => tokensOfCharacters(reply.parts.reduce((sum, part) => sum + charactersOf(part), 0)),
    }),
  });
}

/**
 * A client that asks for the thinking to be left out gets its signatures all the same. One that says how to display it shows
 * the last block as the answer: behind the text there must be none that only carries a value.
 */
export function mannerOf({ request, note }: EncodeAnswerContext): AnswerManner {
  const display = stringAt(objectAt(request, "thinking"), "display");
  const last = display === undefined || display === "summarized";
  return {
    hidden: display === "omitted",
    keepsTextSignature: () => {
      if (!last) note({ path: "thinking.display", action: "dropped", reason: UNCARRIED });
      return last;
    },
    leaveOut: ({ kind }) => note({ path: "content", action: "dropped", reason: `${NO_PLACE} ${kind}` }),
  };
}

const NO_PLACE = "answers of this protocol have no place for the model's";
const UNCARRIED = "the signature of the answer's text, which has no place before it";

function charactersOf(part: ReplyPart): number {
  if ("text" in part) return part.text.length;
  return part.type === "tool-call" ? part.input.length : 0;
}
