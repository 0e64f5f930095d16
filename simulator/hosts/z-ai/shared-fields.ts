import type { HostError } from "../../host-error.ts";
import type { JsonObject } from "../../json.ts";
import { optionalBoolean, requireString } from "../openai/text/check.ts";
import { invalid } from "../openai/text/errors.ts";

/** The fields that every request of this host may have. */
export const SHARED_FIELDS = ["model", "prompt", "watermark_enabled", "user_id", "request_id"];

export function checkShared(values: JsonObject): void {
  optionalBoolean(values, "watermark_enabled");
  if (values.request_id !== undefined) requireString(values.request_id, "request_id");
  if (values.user_id === undefined) return;
  const { length } = requireString(values.user_id, "user_id");
  if (length < 6 || length > 128) {
    throw invalid("user_id must have 6 to 128 characters.", "user_id", "invalid_value");
  }
}

/** The id of a request: the caller's own where it sent one. */
export function requestIdOf(values: JsonObject): string {
  return typeof values.request_id === "string" ? values.request_id : crypto.randomUUID();
}

export function contentRefused(): HostError {
  return invalid("The prompt holds content that may be unsafe or sensitive.", "prompt", "content_filter");
}
