import { GatewayError } from "../../canon/error.ts";
import { type FailureFacts, failureToError } from "../../dialects/upstream-failure.ts";
import type { JobState } from "../../media/adapter.ts";
import type { ImageResult } from "../../media/image-reply.ts";
import type { VideoReply } from "../../media/video-reply.ts";

/** What a failure says of itself, without the status that it came with. */
export type FailureWords = Omit<FailureFacts, "status" | "retryAfterSeconds">;

/** What a host says of a failure inside an answer of HTTP 200, whose status tells nothing. */
export function reportedFailure(facts: FailureWords): GatewayError {
  const error = failureToError({ ...facts, status: 200 });
  if (error.kind !== "upstream_failed") return error;
  const reason = facts.message || facts.code || "it gave no reason";
  return error.withMessage(`The provider could not finish the job: ${reason}`);
}

/** One image that was not made: moderation is no failure. */
export function failedImage(error: GatewayError): ImageResult<never> {
  return error.kind === "content_blocked" ? { kind: "filtered", reason: error.message } : { kind: "failed", error };
}

/** A video that was not made: one that moderation held back is a finished job without a video (contract 2.2). */
export function failedVideo(error: GatewayError): JobState<VideoReply> {
  return error.kind === "content_blocked"
    ? { state: "done", reply: { videos: [], filtered: [error.message] } }
    : { state: "failed", error };
}

/** Asking again changes nothing: the host keeps jobs for a while only. */
export function forgottenJob(): GatewayError {
  return new GatewayError("upstream_failed", "The provider no longer knows the job: it has expired there.");
}
