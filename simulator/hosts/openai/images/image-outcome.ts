import type { HostError } from "../../../host-error.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { PictureWish } from "../../../media-maker/draw-picture.ts";
import { openaiError, openaiFailure } from "../text/errors.ts";
import type { ImageWish } from "./image-wish.ts";

/** The picture at a place among those of one wish; a partial one has its own look. */
export function pictureOf(wish: ImageWish, at: number, partial?: number): PictureWish {
  return {
    prompt: wish.prompt,
    width: wish.width,
    height: wish.height,
    seed: seedOf(wish.prompt, `${at}/${partial ?? "whole"}`),
    format: wish.format,
    ...(wish.compression === undefined ? {} : { quality: Math.max(1, wish.compression) }),
    transparent: wish.background === "transparent",
    inputs: wish.inputs.length,
    note: partial === undefined ? wish.model : `${wish.model}, unfinished`,
  };
}

export function blockedBy(wish: ImageWish): HostError {
  return wish.gpt
    ? openaiError(400, "Your request was rejected by the safety system.", {
        type: "image_generation_user_error",
        code: "moderation_blocked",
      })
    : openaiError(400, "Your request was rejected as a result of our safety system.", {
        code: "content_policy_violation",
      });
}

/** The error that a wish ends with after it was begun; undefined where pictures come. */
export function failureOf(wish: ImageWish, outcome: Outcome | undefined): HostError | undefined {
  if (outcome === "fails") return openaiFailure("500", wish.model);
  return outcome === "moderated" ? blockedBy(wish) : undefined;
}

/** The host does not say that one of several was held back: there is one less. */
export function pictureCount(wish: ImageWish, outcome: Outcome | undefined): number {
  return outcome === "one-fails" ? wish.count - 1 : wish.count;
}
