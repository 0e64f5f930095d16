import { arrayAt, isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { fold } from "../../../canon/fold.ts";
import type { CanonReply } from "../../../canon/reply.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { OpenBlocks } from "./open-blocks.ts";

/** A complete response is a stream of one chunk. Throws if the body is an error with a status of success. */
export function decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply {
  const reader = new OpenBlocks(context);
  return fold([...reader.read(finished(body)), ...reader.end()]);
}

/** Unlike a stream, a complete body cannot be truncated: if it has content, a missing finish reason was just not reported. */
function finished(body: JsonObject): JsonObject {
  const [candidate, ...others] = arrayAt(body, "candidates");
  if (!isObject(candidate) || stringAt(candidate, "finishReason")) return body;
  return { ...body, candidates: [{ ...candidate, finishReason: "FINISH_REASON_UNSPECIFIED" }, ...others] };
}
