import type { HostError } from "../../../host-error.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageOptions } from "../../../media-maker/paint-image.ts";
import { openaiError, openaiFailure } from "../text/errors.ts";
import type { ImageRequest } from "./read-request.ts";

/** The image at an index among those of one request. A partial one looks different. */
export function imageOf(request: ImageRequest, at: number, partial?: number): ImageOptions {
  return {
    prompt: request.prompt,
    width: request.width,
    height: request.height,
    seed: seedOf(request.prompt, `${at}/${partial ?? "whole"}`),
    format: request.format,
    ...(request.compression === undefined ? {} : { quality: Math.max(1, request.compression) }),
    transparent: request.background === "transparent",
    inputs: request.inputs.length,
    note: partial === undefined ? request.model : `${request.model}, unfinished`,
  };
}

export function blockedBy(request: ImageRequest): HostError {
  return request.gpt
    ? openaiError(400, "Your request was rejected by the safety system.", {
        type: "image_generation_user_error",
        code: "moderation_blocked",
      })
    : openaiError(400, "Your request was rejected as a result of our safety system.", {
        code: "content_policy_violation",
      });
}

/** The error that a request ends with after it was begun; undefined where images come. */
export function failureOf(request: ImageRequest, outcome: Outcome | undefined): HostError | undefined {
  if (outcome === "fails") return openaiFailure("500", request.model);
  return outcome === "moderated" ? blockedBy(request) : undefined;
}

/** The host does not say that one of several was held back: there is one less. */
export function imageCount(request: ImageRequest, outcome: Outcome | undefined): number {
  return outcome === "one-fails" ? request.count - 1 : request.count;
}
