import type { GatewayError } from "../../canon/error.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../../canon/json.ts";
import { failureToError, readRetryAfter } from "../../dialects/upstream-failure.ts";
import type { MediaAnswer } from "../../media/media-wire.ts";

/** An answer `{ detail }` or `{ message }`; where fields are at fault, `detail` is a list of them. */
export function readError({ status, body, retryAfter }: MediaAnswer): GatewayError {
  const faults = arrayAt(body, "detail").filter(isObject);
  const [first] = faults;
  return failureToError({
    status,
    message: stringAt(body, "detail") ?? (faults.map(wordsOf).join("; ") || stringAt(body, "message")),
    path: first && pathOf(first),
    retryAfterSeconds: readRetryAfter(retryAfter),
  });
}

const wordsOf = (fault: JsonObject): string => `${pathOf(fault)}: ${stringAt(fault, "msg") ?? "not accepted"}`;

/** `loc` begins with the part of the request, which is always its body. */
const pathOf = (fault: JsonObject): string =>
  arrayAt(fault, "loc")
    .filter((step, index) => index > 0 || step !== "body")
    .join(".");
