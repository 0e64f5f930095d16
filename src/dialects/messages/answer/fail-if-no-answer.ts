import type { JsonObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { decodeErrorObject } from "./errors.ts";

/** What is no answer although it came under a status of success. */
export function failIfNoAnswer(body: JsonObject): void {
  if (body["type"] === "error") throw decodeErrorObject(body);
  if (!Array.isArray(body["content"]))
    throw new GatewayError("upstream_failed", "The provider's answer has no content.");
}
