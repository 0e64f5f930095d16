import type { Exchange } from "../../exchange.ts";
import type { JsonObject } from "../../json.ts";
import { chooseOutcome } from "../../media/choose-outcome.ts";
import type { MediaJob } from "../../media/jobs.ts";
import type { MediaContext } from "../../media/media-host.ts";
import { playImmediateOutcome } from "../../media/play-outcome.ts";
import { publishImage, publishVideo } from "../../media/publish.ts";
import { seedOf } from "../../media/seed-of.ts";
import type { Generation } from "./read-generation.ts";
import { IMMEDIATE_ERRORS, refused } from "./refusals.ts";

const HOST = "luma";
const KEPT_MS = 24 * 3_600_000;
const FPS = 24;

function publish(job: MediaJob<Generation>, context: MediaContext): JsonObject {
  const { prompt, width, height, seconds, format, inputs, model, kind } = job.request;
  const seed = seedOf(prompt);
  const life = { outcome: job.outcome, keptMs: KEPT_MS };
  const image = publishImage(context, { prompt, width, height, seed, format, inputs, note: model }, life);
  if (kind === "image") return { image };
  // A video comes with an image of itself.
  const video = { prompt, width, height, seconds, fps: FPS, seed, audio: false };
  return { video: publishVideo(context, video, life), image };
}

function standing(job: MediaJob<Generation>, context: MediaContext): JsonObject {
  const phase = context.jobs.phase(job);
  if (phase !== "ended") {
    return { state: phase === "queued" ? "queued" : "dreaming", failure_reason: null, assets: null };
  }
  const failed = (reason: string): JsonObject => ({ state: "failed", failure_reason: reason, assets: null });
  if (job.outcome === "moderated") return failed("The generation was held back by moderation");
  if (job.outcome === "fails") return failed("The generation failed because of an internal error");
  return { state: "completed", failure_reason: null, assets: publish(job, context) };
}

function shown(job: MediaJob<Generation>, context: MediaContext): JsonObject {
  const { kind, model, original } = job.request;
  return {
    id: job.id,
    generation_type: kind,
    ...standing(job, context),
    created_at: new Date(job.createdAtMs).toISOString(),
    model,
    request: { generation_type: kind, ...original },
  };
}

export function startGeneration(exchange: Exchange, request: Generation, context: MediaContext, key: string): Response {
  const outcome = chooseOutcome(request.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const job = context.jobs.create({ id: crypto.randomUUID(), host: HOST, key, request, outcome });
  return Response.json(shown(job, context), { status: 201 });
}

export function showGeneration(context: MediaContext, id: string, key: string): Response {
  const job = context.jobs.find<Generation>(HOST, id, key);
  if (job === undefined) throw refused(404, "Generation not found");
  return Response.json(shown(job, context));
}
