import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaJob } from "../../../media/jobs.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { playImmediateOutcome } from "../../../media/play-outcome.ts";
import { publishImage, publishVideo } from "../../../media/publish.ts";
import { arkError, bodyOf, IMMEDIATE_ERRORS } from "../errors.ts";
import { FRAMES_PER_SECOND, readTask, type SeedanceRequest } from "./read-task.ts";

const HOST = "volcengine tasks";
const KEPT_MS = 24 * 3_600_000;
const SENSITIVE = {
  code: "OutputVideoSensitiveContentDetected",
  message: "The request failed because the output video may contain sensitive information.",
};
const FAILED = { code: "InternalServiceError", message: "The service encountered an unexpected internal error." };

type Task = MediaJob<SeedanceRequest>;

export function createTask(exchange: Exchange, context: MediaContext, key: string): Response {
  const request = readTask(bodyOf(exchange));
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const day = new Date(context.nowMs()).toISOString().slice(0, 19).replace(/\D/g, "");
  const id = `cgt-${day}-${crypto.randomUUID().slice(0, 5)}`;
  context.jobs.create({ id, host: HOST, key, request, outcome });
  return Response.json({ id });
}

function findTask(context: MediaContext, key: string, id: string): Task {
  const task: Task | undefined = context.jobs.find(HOST, id, key);
  if (task === undefined || task.request.withdrawn === "deleted") {
    throw arkError(404, "ResourceNotFound", `The specified task ${id} is not found.`, "id");
  }
  return task;
}

function statusOf(task: Task, context: MediaContext): string {
  if (task.request.withdrawn === "cancelled") return "cancelled";
  const phase = context.jobs.phase(task);
  const isLate = task.createdAtMs + task.request.expiresAfterMs < Math.min(task.endsAtMs, context.nowMs());
  if (isLate) return "expired";
  if (phase !== "ended") return phase;
  return task.outcome === "moderated" || task.outcome === "fails" ? "failed" : "succeeded";
}

function contentOf({ request, outcome }: Task, context: MediaContext): JsonObject {
  const { prompt, size, seconds, seed, audio, frames } = request;
  const life = { outcome, keptMs: KEPT_MS };
  const video = { prompt, ...size, seconds, fps: FRAMES_PER_SECOND, seed, audio, ...frames };
  const still = { prompt, ...size, seed, format: "png", note: "last frame" } as const;
  return {
    video_url: publishVideo(context, video, life),
    ...(request.returnsLastFrame ? { last_frame_url: publishImage(context, still, life) } : {}),
  };
}

function resultOf(task: Task, context: MediaContext): JsonObject {
  const { size, seconds, seed, resolution, ratio, audio, prompt } = task.request;
  const tokens = Math.floor((size.width * size.height * FRAMES_PER_SECOND * seconds) / 1024);
  return {
    content: contentOf(task, context),
    usage: { completion_tokens: tokens, total_tokens: tokens },
    seed,
    resolution,
    ratio,
    duration: Math.ceil(seconds),
    frames: Math.round(seconds * FRAMES_PER_SECOND),
    framespersecond: FRAMES_PER_SECOND,
    generate_audio: audio,
    revised_prompt: prompt,
  };
}

export function showTask(context: MediaContext, key: string, id: string): Response {
  const task = findTask(context, key, id);
  const status = statusOf(task, context);
  return Response.json({
    id,
    model: task.request.model,
    status,
    error: status !== "failed" ? null : task.outcome === "moderated" ? SENSITIVE : FAILED,
    created_at: Math.floor(task.createdAtMs / 1000),
    updated_at: Math.floor(Math.min(context.nowMs(), task.endsAtMs) / 1000),
    service_tier: task.request.serviceTier,
    execution_expires_after: task.request.expiresAfterMs / 1000,
    ...(status === "succeeded" ? resultOf(task, context) : {}),
  });
}

/** Cancels what still waits in line, and deletes what has ended. */
export function withdrawTask(context: MediaContext, key: string, id: string): Response {
  const task = findTask(context, key, id);
  const status = statusOf(task, context);
  if (status === "running") {
    throw arkError(409, "InvalidAction.RunningTaskDeletion", `The task ${id} is running and cannot be deleted.`, "id");
  }
  task.request.withdrawn = status === "queued" ? "cancelled" : "deleted";
  return Response.json({});
}
