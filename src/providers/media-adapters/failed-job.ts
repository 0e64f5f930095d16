import { GatewayError } from "../../canon/error.ts";
import { type FailureFacts, failureToError } from "../../dialects/upstream-failure.ts";
import type { JobState } from "../../media/adapter.ts";
import type { ImageResult } from "../../media/image-reply.ts";
import type { VideoReply } from "../../media/video-reply.ts";

/** The message and code of a failure, without the status of its answer. */
export type FailureWords = Omit<FailureFacts, "status" | "retryAfterSeconds">;

/** A failure that a host reports in a response with HTTP 200. */
export function reportedFailure(facts: FailureWords): GatewayError {
  const error = failureToError({ ...facts, status: 200 });
  if (error.kind !== "upstream_failed") return error;
  const reason = facts.message || facts.code || "no reason given";
  return error.withMessage(`The provider could not finish the job: ${reason}`);
}

/** The result for an image that was not made: one that moderation blocked has not failed. */
export function failedImage(error: GatewayError): ImageResult<never> {
  return error.kind === "content_blocked" ? { kind: "filtered", reason: error.message } : { kind: "failed", error };
}

/** The state of a job that made no video: one that moderation blocked is done, without a video (contract 2.2). */
export function failedVideo(error: GatewayError): JobState<VideoReply> {
  return error.kind === "content_blocked"
    ? { state: "done", reply: { videos: [], filtered: [error.message] } }
    : { state: "failed", error };
}

/** Polling again changes nothing: hosts keep jobs for a while only. */
export function forgottenJob(): GatewayError {
  return new GatewayError("upstream_failed", "The provider no longer has the job: it has expired.");
}
