import { parseObject, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import { messageOfException, statusOfException } from "../answer/framed-exception.ts";
import type { UpstreamFailure } from "../upstream-failure.ts";
import { failureToError } from "../upstream-failure.ts";

/** The exception's name is in a header and sometimes in the body, where it is more specific than the status. */
export function decodeError(failure: UpstreamFailure): GatewayError {
  const body = parseObject(failure.body);
  return failureToError({
    status: statusOfException(stringAt(body, "__type")) ?? failure.status,
    message: messageOfException(body),
    retryAfterSeconds: failure.retryAfterSeconds,
  });
}
