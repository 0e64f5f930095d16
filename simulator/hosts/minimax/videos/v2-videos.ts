import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { Fields } from "../../../media/fields.ts";
import { framesOf } from "../../../media/given-image.ts";
import { parseSize, sizeOfShortSide } from "../../../media/image-size.ts";
import type { MediaJob } from "../../../media/jobs.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { playImmediateOutcome } from "../../../media/play-outcome.ts";
import { publishVideo } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { VideoOptions } from "../../../media-maker/video-options.ts";
import { names } from "../../../names.ts";
import { badParameters, CODES, immediateErrors, refusalsIn, secondWord } from "../refusals.ts";
import { readContent } from "./v2-content.ts";

const HOST = "minimax second videos";
const FIELDS = names("model content resolution duration ratio aigc_watermark callback_url");
const RATIOS = ["adaptive", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"] as const;
const WIDE = { width: 16, height: 9 };
const KEPT_MS = 24 * 3_600_000;
const REFUSALS = refusalsIn(secondWord);

interface VideoRequest {
  video: VideoOptions;
  resolution: "2K" | "768P";
  ratio: string;
  cancelled: boolean;
}

function read(exchange: Exchange): Pick<VideoRequest, "video" | "resolution" | "ratio"> {
  const body = new Fields(exchange.body, "", FIELDS, REFUSALS);
  const model = body.requiredText("model");
  exchange.countModel(model);
  if (model !== "MiniMax-H3" && model !== "standard") throw badParameters(secondWord, `model ${model} does not exist`);
  const { prompt, first, last } = readContent(body.list("content"));
  const resolution = body.choice("resolution", ["2K", "768P"]);
  if (resolution === undefined) throw REFUSALS.missing("resolution");
  const seconds = body.whole("duration", 4, 15);
  if (seconds === undefined) throw REFUSALS.missing("duration");
  const ratio = body.choice("ratio", RATIOS) ?? "adaptive";
  body.flag("aigc_watermark");
  body.text("callback_url");
  const shape = ratio === "adaptive" ? (first?.size ?? WIDE) : (parseSize(ratio, ":") ?? WIDE);
  const video = {
    prompt,
    ...sizeOfShortSide(shape, resolution === "2K" ? 1440 : 768),
    seconds,
    fps: 24,
    seed: seedOf(prompt),
    audio: true,
    ...framesOf(first, last),
  };
  return { video, resolution, ratio };
}

/** `POST /v2/video_generation` */
export function startV2Video(exchange: Exchange, context: MediaContext, key: string): Response {
  const asked = read(exchange);
  const outcome = chooseOutcome(asked.video.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, immediateErrors(secondWord));
  if (immediate !== undefined) return immediate;
  const request: VideoRequest = { ...asked, cancelled: false };
  const job = context.jobs.create({ id: crypto.randomUUID().replaceAll("-", ""), host: HOST, key, request, outcome });
  return Response.json({ task_id: job.id });
}

function findJob(context: MediaContext, id: string, key: string): MediaJob<VideoRequest> {
  const job = context.jobs.find<VideoRequest>(HOST, id, key);
  if (job === undefined) throw secondWord(404, CODES.badParameters, `task ${id} not found`);
  return job;
}

function standing(job: MediaJob<VideoRequest>, context: MediaContext): JsonObject {
  const { request } = job;
  const phase = context.jobs.phase(job);
  if (request.cancelled) return { status: "cancelled" };
  if (phase !== "ended") return { status: phase };
  const failed = (code: number, message: string): JsonObject => ({ status: "failed", error: { code, message } });
  if (job.outcome === "moderated") return failed(CODES.outputSensitive, "output new_sensitive");
  if (job.outcome === "fails") return failed(CODES.unknown, "unknown error");
  const url = publishVideo(context, request.video, { outcome: job.outcome, keptMs: KEPT_MS });
  const { seconds } = request.video;
  const usage = { total_seconds: seconds, input_seconds: 0, output_seconds: seconds };
  return { status: "succeeded", content: { url }, usage };
}

/** `GET /v2/query/video_generation/{id}` */
export function showV2Video(context: MediaContext, id: string, key: string): Response {
  const job = findJob(context, id, key);
  const { resolution, ratio, video } = job.request;
  const task = { id, resolution, duration: video.seconds, ratio, ...standing(job, context) };
  return Response.json({ task });
}

/** `DELETE /v2/video_generation/{id}`: a running job continues. */
export function cancelV2Video(context: MediaContext, id: string, key: string): Response {
  const job = findJob(context, id, key);
  if (context.jobs.phase(job) !== "queued" || job.request.cancelled) {
    throw badParameters(secondWord, `task ${id} is not queued, and only queued tasks can be cancelled`);
  }
  job.request.cancelled = true;
  return Response.json({ task_id: id });
}
