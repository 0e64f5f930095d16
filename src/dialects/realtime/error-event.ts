import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import { ERROR_WORDS } from "../chat/answer/error-words.ts";

/** The `error` of an event. `event_id` is the client's event that caused it. */
export function encodeError(error: GatewayError, eventId: string | undefined): JsonObject {
  const { type, code } = ERROR_WORDS[error.kind];
  return {
    type,
    code: error.code ?? code ?? null,
    message: error.messageWithPath,
    param: error.path ?? null,
    event_id: eventId ?? null,
  };
}
