import { type JsonObject, parseObject } from "../../../base/json.ts";
import type { GatewayError } from "../../../canon/error.ts";
import { decodeErrorObject } from "../../answer/error-object.ts";
import { ERROR_WORDS } from "../../chat/answer/error-words.ts";
import type { StreamErrorWrite, StreamState } from "../../dialect.ts";
import type { UpstreamFailure } from "../../upstream-failure.ts";
import { DEFAULT_RESPONSES_QUIRKS, type ResponsesQuirks } from "../quirks.ts";
import { FAILURE_CODES } from "./error-words.ts";
import { EventWriter } from "./event-writer.ts";
import { encodeShell } from "./response-shell.ts";
import type { StreamPosition } from "./stream-position.ts";

/** Before a response starts, errors have the format of chat completions. */
export { encodeError } from "../../chat/answer/errors.ts";

/** The vendor sends this error inside the stream. Under an error status Codex treats it as final and never compacts (R28). */
export const belongsInStream = ({ code }: GatewayError): boolean => code === "context_length_exceeded";

/**
 * An `error` event, then `response.failed`: the only ending that every client treats as an error. Some throw on the one, some on the other,
 * and most take the plain end of a stream for success (R1).
 */
export function encodeStreamError(
  error: GatewayError,
  requestId: string,
  { position, call }: StreamState,
): StreamErrorWrite[] {
  const shell = shellOf(requestId, call);
  const { sequence, response } = (position as StreamPosition | undefined) ?? { sequence: 0, response: shell };
  const events = new EventWriter();
  events.sequence = sequence;
  const begun = sequence > 0 ? "" : begin(events, { ...shell, ...response });
  const { type } = ERROR_WORDS[error.kind];
  const code = error.code ?? FAILURE_CODES[error.kind];
  const message = error.messageWithPath;
  const told = events.write("error", { error: { type, code, message, param: error.path ?? null } });
  const failed = { ...shell, ...response, status: "failed", error: { code, message } };
  return [{ text: begun + told + events.write("response.failed", { response: failed }), pauseMs: 0 }];
}

/** Every stream begins with `response.created`, from which clients take the response's id. */
function begin(events: EventWriter, response: JsonObject): string {
  const begun = { response: { ...response, status: "in_progress" } };
  return events.write("response.created", begun) + events.write("response.in_progress", begun);
}

/** The response if nothing of it was written before the failure. */
function shellOf(requestId: string, call: StreamState["call"]): JsonObject {
  const { request = {}, model = "", atSeconds = 0 } = call ?? {};
  const id = `resp_${requestId.replace(/[^a-zA-Z0-9]/g, "")}`;
  return encodeShell(request, { id, model, createdAtSeconds: atSeconds, status: "in_progress", store: false });
}

export function decodeError(
  { body, status, retryAfterSeconds }: UpstreamFailure,
  { badKeyIs400 }: ResponsesQuirks = DEFAULT_RESPONSES_QUIRKS,
): GatewayError {
  return decodeErrorObject(parseObject(body), status, retryAfterSeconds, badKeyIs400);
}
