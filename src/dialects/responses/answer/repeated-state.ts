import type { JsonObject } from "../../../base/json.ts";
import type { AnswerContext } from "../../answer/answer-context.ts";
import { namedConversation } from "../request/named-conversation.ts";

/** The conversation of a request, as its response repeats it; nothing if there is none. */
export function encodeConversation(request: JsonObject): JsonObject {
  const named = namedConversation(request);
  return named === undefined ? {} : { conversation: { id: named.id } };
}

/** A turn of a conversation that is not to be stored is only kept for the conversation. */
export const isStored = ({ keep, request }: Pick<AnswerContext, "keep" | "request">): boolean =>
  keep !== undefined && request["store"] !== false;
