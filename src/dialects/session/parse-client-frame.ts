import { isObject, type JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { inspectJson } from "../../wire/repeated-keys.ts";
import { MAX_NESTING } from "../reading/nesting.ts";
import { parseFrame } from "./parse-frame.ts";

/** The object in a client's frame. A key that occurs twice could mean something else to the host than to the gateway (S15). */
export function parseClientFrame(text: string): JsonObject {
  const value = parseFrame(text);
  if (!isObject(value))
    throw new GatewayError("invalid_request", "The frame is not a JSON object. Send one event as text in each frame.");
  const { repeated, levels } = inspectJson(text, value);
  if (levels > MAX_NESTING)
    throw new GatewayError(
      "invalid_request",
      `The frame is nested deeper than ${MAX_NESTING} levels. Send a flatter one.`,
    );
  if (repeated === undefined) return value;
  const path = [...repeated.path, repeated.key].join(".");
  throw new GatewayError("invalid_request", `${path} occurs twice in the same object. Send it once.`, { path });
}
