import { isObject, type JsonObject } from "../../base/json.ts";

/** The object in a frame, or undefined if it has anything else. */
export function parseFrame(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? value : undefined;
  } catch {
    // A frame that is not JSON is reported by the caller, in its protocol.
    return undefined;
  }
}
