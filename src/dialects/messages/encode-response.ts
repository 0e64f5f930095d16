import { objectAt, stringAt } from "../../canon/json.ts";
import { type CanonReply, charactersOf } from "../../canon/reply.ts";
import { stringifyInOrder } from "../../wire/ordered-json.ts";
import type { EncodeAnswerContext } from "../codec.ts";
import { tokensOfCharacters } from "../estimate-tokens.ts";
import { judgeBrokenCall } from "../judge-broken-call.ts";
import { omitMedia } from "../omit-media.ts";
import { type AnswerManner, encodeAnswerPart } from "./answer-content.ts";
import { encodeFinish } from "./finish.ts";
import { encodeUsage } from "./usage.ts";

export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string {
  const { note } = context;
  const manner = mannerOf(context, (name) => judgeBrokenCall(name, reply.stop, { note, action: "approximated" }));
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
      output: () => tokensOfCharacters(charactersOf(reply.parts)),
    }),
  });
}

/**
 * A client that asks for the thinking to be left out gets its signatures all the same. One that says how to display it shows
 * the last block as the answer: behind the text there must be none that only carries a value.
 */
export function mannerOf({ request, note }: EncodeAnswerContext, breakCall: AnswerManner["breakCall"]): AnswerManner {
  const display = stringAt(objectAt(request, "thinking"), "display");
  const last = display === undefined || display === "summarized";
  return {
    hidden: display === "omitted",
    keepsTextSignature: () => {
      if (!last) note({ path: "thinking.display", action: "dropped", reason: UNCARRIED });
      return last;
    },
    breakCall,
    leaveOut: (media) => omitMedia(media, note),
  };
}

const UNCARRIED = "the signature of the answer's text, which has no place before it";
