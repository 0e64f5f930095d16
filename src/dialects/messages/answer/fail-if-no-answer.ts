import type { JsonObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { decodeErrorObject } from "./errors.ts";

/** Throws if a body with a status of success is not a response. */
export function failIfNoAnswer(body: JsonObject): void {
  if (body["type"] === "error") throw decodeErrorObject(body);
  if (!Array.isArray(body["content"]))
    throw new GatewayError("upstream_failed", "The provider's response has no content.");
}
