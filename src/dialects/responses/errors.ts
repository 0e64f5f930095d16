import type { GatewayError } from "../../canon/error.ts";
import { ERROR_WORDS } from "../chat/error-words.ts";
import type { StreamErrorWrite, StreamState } from "../dialect.ts";
import { FAILURE_CODES } from "./error-words.ts";
import { EventWriter } from "./event-writer.ts";
import { encodeShell } from "./response-shell.ts";
import type { StreamPosition } from "./stream-position.ts";

/** Before an answer the protocol's errors are those of chat completions. */
export { encodeError } from "../chat/errors.ts";

/** The vendor tells this one inside the stream, and Codex takes it as final under a status of its own: it would never compact (R28). */
export const belongsInStream = ({ code }: GatewayError): boolean => code === "context_length_exceeded";

/**
 * An `error` event, then `response.failed`: the only ending that every client takes for an error. Some throw at the one and others at the
 * other, and a stream that just ends is a proper end to most (R1).
 */
export function encodeStreamError(
  error: GatewayError,
  requestId: string,
  { position, call }: StreamState,
): StreamErrorWrite[] {
  const { sequence, response } = (position as StreamPosition | undefined) ?? beginning(requestId, call);
  const events = new EventWriter();
  events.sequence = sequence;
  const { type } = ERROR_WORDS[error.kind];
  const code = error.code ?? FAILURE_CODES[error.kind];
  const message = error.messageWithPath;
  const told = events.write("error", { error: { type, code, message, param: error.path ?? null } });
  const failed = { ...response, status: "failed", error: { code, message } };
  return [{ text: told + events.write("response.failed", { response: failed }), pauseMs: 0 }];
}

/** Where nothing was written before the failure. */
function beginning(requestId: string, call: StreamState["call"]): StreamPosition {
  const { request = {}, model = "", atSeconds = 0 } = call ?? {};
  const shell = { id: `resp_${requestId.replace(/[^a-zA-Z0-9]/g, "")}`, model, createdAtSeconds: atSeconds };
  return { sequence: 0, response: encodeShell(request, { ...shell, status: "failed", store: false }) };
}
