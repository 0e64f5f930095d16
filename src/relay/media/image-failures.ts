import { GatewayError } from "../../canon/error.ts";
import type { ImageResult } from "../../media/image-reply.ts";

/** Why one image was not made. */
export function failureOf(result: Exclude<ImageResult, { kind: "made" }>): GatewayError {
  return result.kind === "failed" ? result.error : new GatewayError("content_blocked", result.reason);
}

/** Why no image was generated. */
export function nothingMade(results: readonly ImageResult[]): GatewayError {
  const [first] = results;
  if (first === undefined || first.kind === "made") {
    return new GatewayError("upstream_failed", "The provider's response contains no image.");
  }
  return failureOf(first);
}
