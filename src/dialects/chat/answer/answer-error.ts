import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { GatewayError, paidFailure } from "../../../canon/error.ts";
import { decodeErrorObject } from "../../answer/error-object.ts";
import { decodeUsage, usageIn } from "./usage.ts";

/** HTTP statuses for the numbers that one family of providers puts into `base_resp`. */
const STATUS_OF_CODE: Readonly<Record<number, number>> = {
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 400,
  2013: 400,
  2049: 401,
};

/** A response with a success status but no answer. */
export const noChoices = () => new GatewayError("upstream_failed", "The provider's response has no choices.");

/** An error under a success status. Providers use several forms for it. */
export function answerError(body: JsonObject): GatewayError | undefined {
  const status = objectAt(body, "base_resp");
  const code = numberAt(status, "status_code") ?? 0;
  if (code !== 0) {
    const message = stringAt(status, "status_msg");
    return decodeErrorObject({ error: { code: STATUS_OF_CODE[code] ?? 500, message } }, 200);
  }
  const isError = isObject(body["error"]) || typeof body["error"] === "string" || body["object"] === "error";
  return isError ? paidFailure(decodeErrorObject(body, 200), decodeUsage(usageIn(body)?.raw)) : undefined;
}
