import { arrayAt, type JsonObject, stringAt } from "../../canon/json.ts";
import type { CanonReply } from "../../canon/reply.ts";
import type { DecodeAnswerContext } from "../codec.ts";
import { decodeAnswerBlock } from "./answer-content.ts";
import { decodeErrorObject } from "./errors.ts";
import { decodeFinish } from "./finish.ts";
import { decodeUsage } from "./usage.ts";

export function decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply {
  if (body["type"] === "error") throw decodeErrorObject(body);
  const id = stringAt(body, "id");
  const usage = decodeUsage(body["usage"]);
  return {
    ...(id ? { id } : {}),
    parts: arrayAt(body, "content").map((block) => decodeAnswerBlock(block, context)),
    ...decodeFinish(body),
    ...(usage === undefined ? {} : { usage }),
  };
}
