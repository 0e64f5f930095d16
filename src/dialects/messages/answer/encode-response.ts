import { isObject, objectAt, stringAt } from "../../../base/json.ts";
import type { FieldNote } from "../../../canon/receipt.ts";
import { type CanonReply, weightOfParts } from "../../../canon/reply.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { answerNote } from "../../answer/answer-note.ts";
import { judgeBrokenCall } from "../../answer/judge-broken-call.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { tokensOfCharacters } from "../../reading/estimate-tokens.ts";
import { omitMedia } from "../../request/omit-media.ts";
import { carriesTextSignature } from "../carriers.ts";
import { type AnswerOptions, encodeAnswerPart } from "./answer-content.ts";
import { encodeFinish, noteMessagesFinish } from "./finish.ts";
import { encodeUsage } from "./usage.ts";

export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string {
  const { note } = context;
  const answerOptions = answerOptionsOf(context, (name) =>
    judgeBrokenCall(name, reply.stop, { note, action: "approximated" }),
  );
  const refused = reply.parts.some(({ type }) => type === "refusal");
  const content = reply.parts.flatMap((part) => encodeAnswerPart(part, answerOptions));
  const end = answerOptions.lastIsAnswer
    ? content.findLastIndex((block) => !carriesTextSignature(block)) + 1
    : content.length;
  if (end < content.length) note(UNCARRIED);
  noteMessagesFinish(reply, refused, note);
  return stringifyInOrder({
    id: reply.id ?? `msg_${context.makeId()}`,
    type: "message",
    role: "assistant",
    model: context.publicModel,
    content: content.slice(0, end),
    ...encodeFinish(reply, refused),
    usage: encodeUsage(reply.usage, {
      input: context.estimateInputTokens,
      output: () => tokensOfCharacters(weightOfParts(reply.parts)),
    }),
  });
}

/**
 * A client that omits thinking still gets its signatures. Coding agents, recognised by thinking display or context management,
 * show the last block as the answer.
 */
export function answerOptionsOf(
  { request, note }: EncodeAnswerContext,
  breakCall: AnswerOptions["breakCall"],
): AnswerOptions {
  const display = stringAt(objectAt(request, "thinking"), "display");
  return {
    hidden: display === "omitted",
    lastIsAnswer: (display !== undefined && display !== "summarized") || isObject(request["context_management"]),
    breakCall,
    leaveOut: (media) => omitMedia(media, note),
    note,
  };
}

/** What such a client does not receive (decision 0011). */
export const UNCARRIED: FieldNote = answerNote(
  "content",
  "dropped",
  "the signature of the last text was omitted: this client would take the block that carries it for the answer, and no provider requires it",
);
