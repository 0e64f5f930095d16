import { unfold } from "../../../canon/fold.ts";
import type { CanonReply } from "../../../canon/reply.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { InteractionsStreamEncoder } from "./encode-stream.ts";

/** The interaction that the stream of this response amounts to. */
export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string {
  const encoder = new InteractionsStreamEncoder(context, { silent: true });
  for (const event of unfold(reply)) encoder.push(event);
  return stringifyInOrder(encoder.interaction);
}
