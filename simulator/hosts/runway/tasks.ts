import type { Exchange } from "../../exchange.ts";
import type { JsonObject } from "../../json.ts";
import { chooseOutcome } from "../../media/choose-outcome.ts";
import type { MediaJob } from "../../media/jobs.ts";
import type { MediaContext } from "../../media/media-host.ts";
import { playImmediateOutcome } from "../../media/play-outcome.ts";
import { publishImage, publishVideo } from "../../media/publish.ts";
import { type Endpoint, readTask, type TaskRequest } from "./read-task.ts";
import { IMMEDIATE_ERRORS, refused } from "./refusals.ts";

const HOST = "runway";
const KEPT_MS = 24 * 3_600_000;
/** How many tasks of a key run at the same time; others are throttled. */
const MAX_RUNNING = 2;

interface Task extends TaskRequest {
  /** By its owner: cancelled while it was being made, or deleted afterwards. */
  ended: "cancelled" | "deleted" | undefined;
}

/** Takes a task at one of the URLs that make something. */
export function startTask(exchange: Exchange, context: MediaContext, endpoint: Endpoint, key: string): Response {
  const asked = readTask(exchange, endpoint);
  const outcome = chooseOutcome(asked.video.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const request: Task = { ...asked, ended: undefined };
  const job = context.jobs.create({ id: crypto.randomUUID(), host: HOST, key, request, outcome });
  return Response.json({ id: job.id });
}

function findTask(context: MediaContext, id: string, key: string): MediaJob<Task> {
  const job = context.jobs.find<Task>(HOST, id, key);
  if (job === undefined || job.request.ended === "deleted") throw refused(404, "The task was not found.");
  return job;
}

function publish(job: MediaJob<Task>, context: MediaContext): string {
  const { video, isVideo, inputs, model } = job.request;
  const life = { outcome: job.outcome, keptMs: KEPT_MS };
  if (isVideo) return publishVideo(context, video, life);
  const { prompt, width, height, seed } = video;
  return publishImage(context, { prompt, width, height, seed, format: "png", inputs, note: model }, life);
}

function standing(job: MediaJob<Task>, context: MediaContext, key: string): JsonObject {
  if (job.request.ended === "cancelled") return { status: "CANCELLED" };
  const phase = context.jobs.phase(job);
  if (phase === "queued") return { status: context.jobs.running(HOST, key) > MAX_RUNNING ? "THROTTLED" : "PENDING" };
  if (phase === "running") return { status: "RUNNING", progress: context.jobs.progress(job) / 100 };
  const failed = (failure: string, failureCode: string): JsonObject => ({ status: "FAILED", failure, failureCode });
  if (job.outcome === "moderated") {
    const kind = job.request.isVideo ? "VIDEO" : "IMAGE";
    return failed("The result was held back by content moderation.", `SAFETY.OUTPUT.${kind}`);
  }
  if (job.outcome === "fails") return failed("An unexpected error occurred.", "INTERNAL.BAD_OUTPUT.CODE01");
  return { status: "SUCCEEDED", output: [publish(job, context)] };
}

/** `GET /tasks/{id}` */
export function showTask(context: MediaContext, id: string, key: string): Response {
  const job = findTask(context, id, key);
  return Response.json({ id, createdAt: new Date(job.createdAtMs).toISOString(), ...standing(job, context, key) });
}

/** `DELETE /tasks/{id}`: cancels what is not done, and deletes what is. */
export function endTask(context: MediaContext, id: string, key: string): Response {
  const job = findTask(context, id, key);
  job.request.ended = context.jobs.phase(job) === "ended" ? "deleted" : "cancelled";
  return new Response(null, { status: 204 });
}
