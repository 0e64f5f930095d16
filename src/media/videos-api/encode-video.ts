import type { JsonObject } from "../../base/json.ts";
import type { Operation, StoredError } from "../../canon/operation.ts";
import { ERROR_WORDS } from "../../dialects/chat/answer/error-words.ts";
import { operationProgress } from "../operation-progress.ts";
import { videoId } from "./video-id.ts";

const inSeconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1000));

/** An operation as an object of the videos API. Prompts are not stored, so `prompt` is null. */
export function encodeVideo(operation: Operation): JsonObject {
  const { job, parts } = operation;
  const isMade = parts.some((part) => part.videos.length > 0);
  const status = statusOf(operation, isMade);
  const [made] = parts.filter((part) => part.videos.length > 0);
  const length = (made?.seconds ?? job.seconds) + (job.source?.kind === "extend" ? job.source.seconds : 0);
  return {
    id: videoId(operation.id),
    object: "video",
    model: job.namedModel ?? operation.model,
    status,
    progress: status === "completed" ? 100 : (operationProgress(parts) ?? 0),
    created_at: inSeconds(operation.createdAtMs),
    completed_at: status === "completed" ? inSeconds(operation.endedAtMs) : null,
    expires_at: status === "completed" ? inSeconds(operation.expiresAtMs) : null,
    prompt: null,
    size: job.size ?? null,
    seconds: String(length),
    remixed_from_video_id: job.source === undefined ? null : videoId(job.source.id),
    error: status === "failed" ? encodeFailure(operation) : null,
  };
}

function statusOf({ state }: Operation, isMade: boolean): string {
  if (state === "submitting") return "queued";
  if (state === "running") return "in_progress";
  return state === "done" && isMade ? "completed" : "failed";
}

/** A video that moderation blocked has failed in this API. */
function encodeFailure({ error, parts }: Operation): JsonObject {
  const [filtered] = parts.flatMap((part) => part.filtered);
  const failure: StoredError =
    error ??
    parts.find((part) => part.error)?.error ??
    (filtered === undefined
      ? { kind: "internal", message: "The video failed for an unknown reason." }
      : { kind: "content_blocked", message: filtered });
  const { type, code } = ERROR_WORDS[failure.kind];
  return { code: code ?? type, message: failure.message };
}

export const encodeDeleted = (operationId: string): JsonObject => ({
  id: videoId(operationId),
  object: "video.deleted",
  deleted: true,
});

export const encodeVideoPage = (operations: readonly Operation[], hasMore: boolean): JsonObject => {
  const data = operations.map(encodeVideo);
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: hasMore,
  };
};
