import { parseObject } from "../../../base/json.ts";
import type { GatewayError } from "../../../canon/error.ts";
import { decodeErrorObject } from "../../answer/error-object.ts";
import type { UpstreamFailure } from "../../upstream-failure.ts";
import { DEFAULT_RESPONSES_QUIRKS, type ResponsesQuirks } from "../quirks.ts";

export function decodeError(
  { body, status, retryAfterSeconds }: UpstreamFailure,
  { badKeyIs400 }: ResponsesQuirks = DEFAULT_RESPONSES_QUIRKS,
): GatewayError {
  return decodeErrorObject(parseObject(body), status, retryAfterSeconds, badKeyIs400);
}
