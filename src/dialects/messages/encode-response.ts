import { objectAt, stringAt } from "../../canon/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { type CanonReply, charactersOf } from "../../canon/reply.ts";
import { stringifyInOrder } from "../../wire/ordered-json.ts";
import type { EncodeAnswerContext } from "../codec.ts";
import { tokensOfCharacters } from "../estimate-tokens.ts";
import { judgeBrokenCall } from "../judge-broken-call.ts";
import { omitMedia } from "../omit-media.ts";
import { type AnswerManner, encodeAnswerPart } from "./answer-content.ts";
import { carriesTextSignature } from "./carriers.ts";
import { encodeFinish } from "./finish.ts";
import { encodeUsage } from "./usage.ts";

export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string {
  const { note } = context;
  const manner = mannerOf(context, (name) => judgeBrokenCall(name, reply.stop, { note, action: "approximated" }));
  const refused = reply.parts.some(({ type }) => type === "refusal");
  const content = reply.parts.flatMap((part) => encodeAnswerPart(part, manner));
  const end = content.findLastIndex((block) => !carriesTextSignature(block)) + 1;
  if (end < content.length) note(UNCARRIED);
  return stringifyInOrder({
    id: reply.id ?? `msg_${context.makeId()}`,
    type: "message",
    role: "assistant",
    model: context.publicModel,
    content: content.slice(0, end),
    ...encodeFinish(reply, refused),
    usage: encodeUsage(reply.usage, {
      input: context.estimateInputTokens,
      output: () => tokensOfCharacters(charactersOf(reply.parts)),
    }),
  });
}

/** A client that asks for the thinking to be left out gets its signatures all the same. */
export function mannerOf({ request, note }: EncodeAnswerContext, breakCall: AnswerManner["breakCall"]): AnswerManner {
  return {
    hidden: stringAt(objectAt(request, "thinking"), "display") === "omitted",
    breakCall,
    leaveOut: (media) => omitMedia(media, note),
  };
}

/** Some clients show the last block as the answer: behind the last text there is none that only carries its signature (0011). */
export const UNCARRIED: FieldNote = {
  path: "content",
  action: "dropped",
  reason:
    "the signature of the answer's last text: clients take a block behind it for the answer, and no provider demands it",
};
