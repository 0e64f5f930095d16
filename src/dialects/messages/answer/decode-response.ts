import { arrayAt, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import type { CanonReply } from "../../../canon/reply.ts";
import { reportModel } from "../../../canon/terms.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { decodeAnswerBlock } from "./answer-content.ts";
import { failIfNoAnswer } from "./fail-if-no-answer.ts";
import { decodeFinish } from "./finish.ts";
import { readUsage, reportUsageTerms } from "./usage.ts";

export function decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply {
  failIfNoAnswer(body);
  const id = stringAt(body, "id");
  const content = arrayAt(body, "content");
  const usage = readUsage(body);
  reportModel(context.served, body["model"]);
  reportUsageTerms(context.served, objectAt(body, "usage"));
  return {
    ...(id ? { id } : {}),
    parts: content.map((block) => decodeAnswerBlock(block, context)),
    ...decodeFinish(body),
    ...(usage === undefined ? {} : { usage }),
  };
}
