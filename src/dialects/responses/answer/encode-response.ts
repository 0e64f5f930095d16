import { unfold } from "../../../canon/fold.ts";
import type { CanonReply } from "../../../canon/reply.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { ResponsesStreamEncoder } from "./encode-stream.ts";

/** The same object that ends the stream of this response. */
export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string {
  const encoder = new ResponsesStreamEncoder(context, { silent: true });
  for (const event of unfold(reply)) encoder.push(event);
  return stringifyInOrder(encoder.response);
}
