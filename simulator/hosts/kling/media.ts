import type { Exchange } from "../../exchange.ts";
import { isObject, type JsonObject } from "../../json.ts";
import { chooseOutcome } from "../../media/choose-outcome.ts";
import { isJson } from "../../media/is-json.ts";
import type { MediaJob } from "../../media/jobs.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { isHeldBack, playImmediateOutcome } from "../../media/play-outcome.ts";
import { publishImage, publishVideo } from "../../media/publish.ts";
import { authenticate } from "./authenticate.ts";
import { IMMEDIATE_ERRORS, invalidParameter, klingError, notFound } from "./errors.ts";
import { type KlingImagesRequest, readImages } from "./images/read-images.ts";
import { type KlingVideoRequest, readVideo } from "./videos/read-video.ts";

const KEPT_MS = 30 * 24 * 3_600_000;
const FRAMES_PER_SECOND = 24;
const ROUTE = /\/v1\/(images|videos)\/([\w-]+)(?:\/([^/]+))?$/;

type Task = MediaJob<KlingImagesRequest | KlingVideoRequest>;

/** A task is known only at the endpoint that took it. */
const hostOf = (kind: string, endpoint: string): string => `kling ${kind} ${endpoint}`;

const answer = (data: JsonObject): Response =>
  Response.json({ code: 0, message: "SUCCEED", request_id: crypto.randomUUID(), data });

function headOf(task: Task, status: string, updatedAtMs: number): JsonObject {
  const { externalId } = task.request;
  return {
    task_id: task.id,
    task_status: status,
    task_info: externalId === undefined ? {} : { external_task_id: externalId },
    created_at: Math.floor(task.createdAtMs),
    updated_at: Math.floor(updatedAtMs),
  };
}

function submit(exchange: Exchange, context: MediaContext, key: string, kind: string, endpoint: string): Response {
  if (!isJson(exchange.headers)) {
    throw klingError(400, 1200, "Content-Type must be application/json.");
  }
  if (!isObject(exchange.body)) throw invalidParameter("The request body must be a JSON object.");
  const asked = kind === "images" ? readImages(endpoint, exchange.body) : readVideo(endpoint, exchange.body);
  if (asked === undefined) throw klingError(404, 1202, `There is no ${kind}/${endpoint}.`);
  exchange.countModel(asked.model);
  const outcome = chooseOutcome(asked.prompt, asked.kind === "images" ? asked.count : 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, IMMEDIATE_ERRORS);
  if (immediate !== undefined) return immediate;
  const id = String(BigInt(`0x${crypto.randomUUID().replaceAll("-", "").slice(0, 15)}`) + 10n ** 18n).slice(0, 18);
  const task = context.jobs.create({ id, host: hostOf(kind, endpoint), key, request: asked, outcome });
  return answer(headOf(task, "submitted", task.createdAtMs));
}

function imagesOf({ outcome }: Task, asked: KlingImagesRequest, context: MediaContext): JsonObject[] {
  const { prompt, size, seed, count, inputs, model, watermark } = asked;
  return Array.from({ length: count }, (_, index) => index)
    .filter((index) => !isHeldBack(outcome, index))
    .map((index) => {
      const made = { prompt, ...size, seed: seed + index, format: "png", inputs } as const;
      const life = { outcome, keptMs: KEPT_MS };
      return {
        index,
        url: publishImage(context, { ...made, note: model }, life),
        ...(watermark ? { watermark_url: publishImage(context, { ...made, note: `${model} WATERMARK` }, life) } : {}),
      };
    });
}

function videosOf({ outcome }: Task, asked: KlingVideoRequest, context: MediaContext): JsonObject[] {
  if (isHeldBack(outcome, 0)) return [];
  const { prompt, size, seconds, seed, audio, frames } = asked;
  const video = { prompt, ...size, seconds, fps: FRAMES_PER_SECOND, seed, audio, ...frames };
  const life = { outcome, keptMs: KEPT_MS };
  return [
    {
      id: crypto.randomUUID(),
      url: publishVideo(context, video, life),
      ...(asked.watermark ? { watermark_url: publishVideo(context, video, life) } : {}),
      duration: String(seconds),
    },
  ];
}

function show(context: MediaContext, key: string, host: string, id: string): Response {
  const task: Task | undefined = context.jobs.find(host, id, key);
  if (task === undefined) throw notFound(`The task ${id} does not exist.`);
  const phase = context.jobs.phase(task);
  if (phase === "queued") return answer({ ...headOf(task, "submitted", task.createdAtMs), task_status_msg: "" });
  if (phase === "running") return answer({ ...headOf(task, "processing", task.startsAtMs), task_status_msg: "" });
  const failed = (message: string): Response =>
    answer({ ...headOf(task, "failed", task.endsAtMs), task_status_msg: message });
  if (task.outcome === "fails") return failed("The task failed by an internal error of the platform.");
  const asked = task.request;
  const made = asked.kind === "images" ? imagesOf(task, asked, context) : videosOf(task, asked, context);
  if (made.length === 0) return failed("Failure to pass the risk control system.");
  return answer({
    ...headOf(task, "succeed", task.endsAtMs),
    task_status_msg: "",
    task_result: { [asked.kind]: made },
    final_unit_deduction: String(asked.kind === "images" ? made.length : asked.seconds),
  });
}

/** Kling: images and videos as tasks, under numbers for errors and texts for durations. */
export const klingMedia: MediaHost = async (exchange, context) => {
  const [, kind, endpoint, id] = ROUTE.exec(exchange.url.pathname) ?? [];
  if (kind === undefined || endpoint === undefined) return undefined;
  const key = authenticate(exchange.headers, context);
  if (exchange.method === "GET" && id !== undefined) return show(context, key, hostOf(kind, endpoint), id);
  if (exchange.method === "POST" && id === undefined) return submit(exchange, context, key, kind, endpoint);
  throw klingError(404, 1202, `${exchange.method} is not a method of this endpoint.`);
};
