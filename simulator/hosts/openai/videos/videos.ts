import type { Exchange } from "../../../exchange.ts";
import type { HostError } from "../../../host-error.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaJob } from "../../../media/jobs.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { playImmediateOutcome } from "../../../media/play-outcome.ts";
import { seedOf } from "../../../media/seed-of.ts";
import { drawImage } from "../../../media-maker/draw-image.ts";
import { immediateErrors } from "../immediate-errors.ts";
import { anyFields, jsonFields, refuseUnknown } from "../request-fields.ts";
import { badValue, optionalEnum, requireString } from "../text/check.ts";
import { invalid, openaiError } from "../text/errors.ts";
import { promptIn, readVideoRequest, type VideoRequest } from "./read-request.ts";

type VideoJob = MediaJob<VideoRequest>;

const HOST = "openai";
const FPS = 30;
/** How long the bytes can be had after the video is done. */
const KEPT_MS = 60 * 60_000;

const seconds = (ms: number): number => Math.floor(ms / 1_000);

const expiresAtMs = (job: VideoJob): number => job.endsAtMs + (job.outcome === "expired" ? 0 : KEPT_MS);

function errorOf(job: VideoJob): JsonObject | null {
  if (job.outcome === "moderated") {
    return { code: "moderation_blocked", message: "The video was held back by the moderation system." };
  }
  return job.outcome === "fails" ? { code: "server_error", message: "The video could not be made." } : null;
}

function statusOf(job: VideoJob, context: MediaContext): string {
  const phase = context.jobs.phase(job);
  if (phase !== "ended") return phase === "queued" ? "queued" : "in_progress";
  return errorOf(job) === null ? "completed" : "failed";
}

function videoAnswer(job: VideoJob, context: MediaContext): Response {
  const { request } = job;
  const status = statusOf(job, context);
  const done = status === "completed";
  return Response.json({
    id: job.id,
    object: "video",
    model: request.model,
    status,
    progress: status === "queued" ? 0 : context.jobs.progress(job),
    created_at: seconds(job.createdAtMs),
    completed_at: done ? seconds(job.endsAtMs) : null,
    expires_at: done ? seconds(expiresAtMs(job)) : null,
    prompt: request.prompt,
    size: request.size,
    seconds: request.seconds,
    remixed_from_video_id: request.remixedFrom ?? null,
    error: status === "failed" ? errorOf(job) : null,
  });
}

function notFound(id: string): HostError {
  return openaiError(404, `Video with id '${id}' not found.`, { param: "video_id", code: "not_found" });
}

function known(job: VideoJob | undefined, id: string): VideoJob {
  if (job === undefined || job.request.deleted) throw notFound(id);
  return job;
}

const find = (id: string, key: string, context: MediaContext): VideoJob =>
  known(context.jobs.recall<VideoRequest>(HOST, id, key), id);

function take(request: VideoRequest, exchange: Exchange, context: MediaContext, key: string): Response {
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, 1, exchange, key);
  const blocked = openaiError(400, "Your request was blocked by our moderation system.", {
    type: "video_generation_user_error",
    code: "moderation_blocked",
  });
  const immediate = playImmediateOutcome(outcome, immediateErrors(request.model, blocked));
  if (immediate !== undefined) return immediate;
  const id = `video_${crypto.randomUUID().replaceAll("-", "")}`;
  return videoAnswer(context.jobs.create({ id, host: HOST, key, request, outcome }), context);
}

export function createVideo(exchange: Exchange, context: MediaContext, key: string): Response {
  return take(readVideoRequest(anyFields(exchange)), exchange, context, key);
}

/** A video made anew from another one's request, with another prompt. */
export function remixVideo(exchange: Exchange, context: MediaContext, key: string, id: string): Response {
  const before = find(id, key, context);
  const fields = { values: jsonFields(exchange) };
  refuseUnknown(Object.keys(fields.values), ["prompt"]);
  return take({ ...before.request, prompt: promptIn(fields), remixedFrom: id }, exchange, context, key);
}

const EXTENSIONS = ["4", "8", "12", "16", "20"];

/** A video made from a completed one: with changes, or with more seconds at its end. */
export function deriveVideo(
  exchange: Exchange,
  context: MediaContext,
  key: string,
  how: "edits" | "extensions",
): Response {
  const fields = { values: jsonFields(exchange) };
  refuseUnknown(Object.keys(fields.values), ["prompt", "video", ...(how === "extensions" ? ["seconds"] : [])]);
  const id = requireString((fields.values.video as JsonObject | undefined)?.id, "video.id");
  const before = find(id, key, context);
  if (statusOf(before, context) !== "completed") throw invalid("The video is not completed.", "video", null);
  const added = how === "edits" ? "0" : optionalEnum(fields.values, "seconds", EXTENSIONS);
  if (added === undefined) throw invalid("Missing required parameter: 'seconds'.", "seconds", null);
  const total = String(Number(before.request.seconds) + Number(added));
  const request = { ...before.request, prompt: promptIn(fields), seconds: total, remixedFrom: id };
  return take(request, exchange, context, key);
}

export function tellVideo(context: MediaContext, key: string, id: string): Response {
  return videoAnswer(known(context.jobs.find<VideoRequest>(HOST, id, key), id), context);
}

export function deleteVideo(context: MediaContext, key: string, id: string): Response {
  find(id, key, context).request.deleted = true;
  return Response.json({ id, object: "video.deleted", deleted: true });
}

/** The bytes, which want the key as everything else does. */
export async function sendVideo(exchange: Exchange, context: MediaContext, key: string, id: string): Promise<Response> {
  const job = find(id, key, context);
  const variant = exchange.url.searchParams.get("variant") ?? "video";
  if (!["video", "thumbnail", "spritesheet"].includes(variant)) {
    throw badValue(variant, ["video", "thumbnail", "spritesheet"], "variant");
  }
  if (statusOf(job, context) !== "completed") {
    throw invalid("Video is not ready yet. Ask for its status until it is completed.", null, "video_not_ready");
  }
  if (context.nowMs() >= expiresAtMs(job)) {
    throw openaiError(404, `The content of video '${id}' has expired.`, { code: "content_expired" });
  }
  const { prompt, measures, firstFrame } = job.request;
  const shared = { prompt, ...measures, seed: seedOf(prompt) };
  if (variant !== "video") {
    const format = variant === "thumbnail" ? "webp" : "jpeg";
    const image = await drawImage({ ...shared, format });
    return new Response(image, { headers: { "content-type": `image/${format}` } });
  }
  const video = await context.makeVideo({
    ...shared,
    seconds: Number(job.request.seconds),
    fps: FPS,
    audio: true,
    ...(firstFrame === undefined ? {} : { firstFrame }),
  });
  return new Response(video, { headers: { "content-type": "video/mp4" } });
}
