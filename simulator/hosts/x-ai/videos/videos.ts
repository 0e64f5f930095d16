import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaJob } from "../../../media/jobs.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { playImmediateOutcome } from "../../../media/play-outcome.ts";
import { publishVideo } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { VideoOptions } from "../../../media-maker/video-options.ts";
import { immediateErrors } from "../../openai/immediate-errors.ts";
import { jsonFields } from "../../openai/request-fields.ts";
import { invalid, openaiError } from "../../openai/text/errors.ts";
import { readVideoRequest, type VideoAction, type VideoRequest } from "./read-request.ts";

const HOST = "x-ai";
const FPS = 24;
const LINK_KEPT_MS = 60 * 60_000;
/** In ticks of 1e-10 dollars, for each second. */
const TICKS: Readonly<Record<string, number>> = { "480p": 800_000_000, "720p": 1_400_000_000, "1080p": 2_500_000_000 };

export function createVideo(exchange: Exchange, context: MediaContext, key: string, action: VideoAction): Response {
  const request = readVideoRequest(jsonFields(exchange), action);
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, 1, exchange, key);
  const blocked = invalid("The prompt was rejected by content moderation.", "prompt", "content_moderation");
  const immediate = playImmediateOutcome(outcome, immediateErrors(request.model, blocked));
  if (immediate !== undefined) return immediate;
  const job = context.jobs.create({ id: crypto.randomUUID(), host: HOST, key, request, outcome });
  return Response.json({ request_id: job.id });
}

function videoOf({ prompt, measures, seconds, firstFrame }: VideoRequest): VideoOptions {
  return {
    prompt,
    ...measures,
    seconds,
    fps: FPS,
    seed: seedOf(prompt),
    audio: true,
    ...(firstFrame === undefined ? {} : { firstFrame }),
  };
}

function ended(job: MediaJob<VideoRequest>, context: MediaContext): JsonObject {
  const { request, outcome } = job;
  const usage = { cost_in_usd_ticks: (TICKS[request.resolution] ?? 0) * request.seconds };
  if (outcome === "fails") {
    return { status: "failed", model: request.model, error: { code: "internal_error", message: "The video failed." } };
  }
  // This host has a status for results that were not fetched in time.
  if (outcome === "expired" || context.nowMs() - job.endsAtMs > LINK_KEPT_MS)
    return { status: "expired", model: request.model };
  const heldBack = outcome === "moderated";
  const url = heldBack ? "" : publishVideo(context, videoOf(request), { outcome, keptMs: LINK_KEPT_MS });
  const video = { url, duration: request.seconds, respect_moderation: !heldBack };
  return { status: "done", video, model: request.model, usage };
}

/** 202 until the video is there: at first with nothing in it, then with how far it is. */
export function tellVideo(context: MediaContext, key: string, id: string): Response {
  const job = context.jobs.find<VideoRequest>(HOST, id, key);
  if (job === undefined) throw openaiError(404, `No video request with id ${id} was found.`);
  const phase = context.jobs.phase(job);
  if (phase === "queued") return new Response(null, { status: 202 });
  if (phase === "running") {
    return Response.json({ status: "pending", progress: context.jobs.progress(job) }, { status: 202 });
  }
  return Response.json(ended(job, context));
}
