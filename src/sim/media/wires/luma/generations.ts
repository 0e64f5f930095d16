import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { drawPicture } from "../../../media-maker/draw-picture.ts";
import { makeFilm } from "../../../media-maker/make-film.ts";
import { chooseFate } from "../../choose-fate.ts";
import type { MediaStudio } from "../../host.ts";
import type { MediaJob } from "../../jobs.ts";
import { linkLifeMs, playAtOnce } from "../../play-fate.ts";
import { seedOf } from "../../seed-of.ts";
import type { Generation } from "./read-generation.ts";
import { AT_ONCE, refused } from "./refusals.ts";

const HOST = "luma";
const KEPT_MS = 24 * 3_600_000;
const FPS = 24;

function publish(job: MediaJob<Generation>, studio: MediaStudio): JsonObject {
  const { prompt, width, height, seconds, format, inputs, model, kind } = job.wish;
  const seed = seedOf(prompt);
  const keptMs = linkLifeMs(job.fate, KEPT_MS);
  const draw = (): Promise<Uint8Array> => drawPicture({ prompt, width, height, seed, format, inputs, note: model });
  const image = studio.links.publish(studio.baseUrl, draw, `image/${format}`, keptMs);
  if (kind === "image") return { image };
  const film = (): Promise<Uint8Array> => makeFilm({ prompt, width, height, seconds, fps: FPS, seed, audio: false });
  // A film comes with a picture of itself.
  return { video: studio.links.publish(studio.baseUrl, film, "video/mp4", keptMs), image };
}

function standing(job: MediaJob<Generation>, studio: MediaStudio): JsonObject {
  const phase = studio.jobs.phase(job);
  if (phase !== "ended") {
    return { state: phase === "queued" ? "queued" : "dreaming", failure_reason: null, assets: null };
  }
  const failed = (reason: string): JsonObject => ({ state: "failed", failure_reason: reason, assets: null });
  if (job.fate === "moderated") return failed("The generation was held back by moderation");
  if (job.fate === "fails") return failed("The generation failed because of an internal error");
  return { state: "completed", failure_reason: null, assets: publish(job, studio) };
}

function shown(job: MediaJob<Generation>, studio: MediaStudio): JsonObject {
  const { kind, model, request } = job.wish;
  return {
    id: job.id,
    generation_type: kind,
    ...standing(job, studio),
    created_at: new Date(job.createdAtMs).toISOString(),
    model,
    request: { generation_type: kind, ...request },
  };
}

export function startGeneration(exchange: Exchange, wish: Generation, studio: MediaStudio, key: string): Response {
  const fate = chooseFate(wish.prompt, 1, exchange, key);
  const struck = playAtOnce(fate, AT_ONCE);
  if (struck !== undefined) return struck;
  const job = studio.jobs.create({ id: crypto.randomUUID(), host: HOST, key, wish, fate });
  return Response.json(shown(job, studio), { status: 201 });
}

export function showGeneration(studio: MediaStudio, id: string, key: string): Response {
  const job = studio.jobs.find<Generation>(HOST, id, key);
  if (job === undefined) throw refused(404, "Generation not found");
  return Response.json(shown(job, studio));
}
