import type { ErrorKind, GatewayError } from "../../canon/error.ts";
import type { LiveClose } from "../live-dialect.ts";

const POLICY = 1008;
const INVALID = 1007;
const TOO_LARGE = 1009;
const FAILED = 1011;
const LATER = 1013;

const CODES: Readonly<Record<ErrorKind, number>> = {
  invalid_request: INVALID,
  unsupported_parameter: INVALID,
  unauthenticated: POLICY,
  budget_exhausted: POLICY,
  forbidden: POLICY,
  not_found: POLICY,
  method_not_allowed: INVALID,
  too_large: TOO_LARGE,
  unsupported_media_type: INVALID,
  rate_limited: LATER,
  content_blocked: POLICY,
  upstream_credentials: FAILED,
  upstream_unfunded: FAILED,
  upstream_failed: FAILED,
  upstream_timeout: FAILED,
  overloaded: LATER,
  stopped: POLICY,
  internal: FAILED,
};

/** A close frame has room for 125 bytes, two of which are the code. */
const MAX_REASON_BYTES = 123;

export function liveClose(error: GatewayError): LiveClose {
  return { code: CODES[error.kind], reason: cut(error.messageWithPath) };
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_REASON_BYTES) return text;
  let end = MAX_REASON_BYTES - Buffer.byteLength("…");
  // Not in the middle of a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}…`;
}
