import type { Exchange } from "../../../exchange.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { Fields } from "../../../media/fields.ts";
import { framesOf, type GivenImage, givenImage } from "../../../media/given-image.ts";
import { sizeOfShortSide } from "../../../media/image-size.ts";
import type { MediaJob } from "../../../media/jobs.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { playImmediateOutcome } from "../../../media/play-outcome.ts";
import { publishVideo } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { VideoOptions } from "../../../media-maker/video-options.ts";
import { names } from "../../../names.ts";
import { badParameters, baseResponse, CODES, firstWord, immediateErrors, refusalsIn, SUCCESS } from "../refusals.ts";

const HOST = "minimax videos";
const MODELS =
  /^(?:standard|MiniMax-Hailuo-(?:2\.3|2\.3-Fast|02)|T2V-01(?:-Director)?|I2V-01(?:-Director|-live)?|S2V-01)$/;
const FIELDS = names(
  `model prompt duration resolution first_frame_image last_frame_image subject_reference prompt_optimizer
  fast_pretreatment aigc_watermark callback_url`,
);
const SHORT_SIDES = { "512P": 512, "720P": 720, "768P": 768, "1080P": 1080 } as const;
const RESOLUTIONS = Object.keys(SHORT_SIDES) as (keyof typeof SHORT_SIDES)[];
const WIDE = { width: 16, height: 9 };
const KEPT_MS = 3_600_000;
const FILE_START = "3";
const REFUSALS = refusalsIn(firstWord);

function readFrame(body: Fields, name: string): GivenImage | undefined {
  const url = body.text(name);
  if (url === undefined) return undefined;
  const image = givenImage(url, ["data URL"]);
  if (image === undefined) {
    throw badParameters(firstWord, `${name} is neither a URL nor an image as a data URI`);
  }
  return image;
}

function readSubjects(body: Fields): number {
  const subjects = body.list("subject_reference");
  for (const [at, value] of subjects.entries()) {
    const path = `subject_reference[${at}]`;
    const subject = new Fields(value, path, names("type image"), REFUSALS);
    if (subject.choice("type", ["character"]) === undefined) throw REFUSALS.missing(`${path}.type`);
    const images = subject.list("image");
    const isSound = images.every((one) => typeof one === "string" && givenImage(one, ["data URL"]) !== undefined);
    if (images.length === 0 || !isSound) throw subject.refuse("image", "a list of URLs or data URIs of images");
  }
  return subjects.length;
}

function checkModel(model: string, frame: boolean, lastFrame: boolean, subjects: number): void {
  const newer = model === "standard" || model.startsWith("MiniMax-Hailuo");
  if (model.startsWith("I2V") && !frame) throw REFUSALS.missing("first_frame_image");
  if (model === "S2V-01" && subjects === 0) throw REFUSALS.missing("subject_reference");
  if (lastFrame && model !== "MiniMax-Hailuo-02" && model !== "standard") {
    throw badParameters(firstWord, `last_frame_image is not supported by ${model}`);
  }
  if (subjects > 0 && newer && model !== "standard") {
    throw badParameters(firstWord, `subject_reference is not supported by ${model}`);
  }
}

function read(exchange: Exchange): VideoOptions {
  const body = new Fields(exchange.body, "", FIELDS, REFUSALS);
  const model = body.requiredText("model");
  exchange.countModel(model);
  if (!MODELS.test(model)) throw badParameters(firstWord, `model ${model} does not exist`);
  const first = readFrame(body, "first_frame_image");
  const last = readFrame(body, "last_frame_image");
  checkModel(model, first !== undefined, last !== undefined, readSubjects(body));
  const prompt = first === undefined ? body.requiredText("prompt") : (body.text("prompt") ?? "");
  const seconds = body.choice("duration", [6, 10]) ?? 6;
  const resolution = body.choice("resolution", RESOLUTIONS) ?? (model.endsWith("01") ? "720P" : "768P");
  if (resolution === "1080P" && seconds !== 6) throw badParameters(firstWord, "1080P is made for a duration of 6 only");
  for (const name of ["prompt_optimizer", "fast_pretreatment", "aigc_watermark"]) body.flag(name);
  body.text("callback_url");
  return {
    prompt,
    ...sizeOfShortSide(first?.size ?? WIDE, SHORT_SIDES[resolution]),
    seconds,
    fps: 24,
    seed: seedOf(prompt),
    audio: false,
    ...framesOf(first, last),
  };
}

function newNumber(): string {
  return String(100_000_000_000 + (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0));
}

/** The first step: `POST /v1/video_generation`. */
export function startVideo(exchange: Exchange, context: MediaContext, key: string): Response {
  const video = read(exchange);
  const outcome = chooseOutcome(video.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, immediateErrors(firstWord));
  if (immediate !== undefined) return immediate;
  const job = context.jobs.create({ id: newNumber(), host: HOST, key, request: video, outcome });
  return Response.json({ task_id: job.id, base_resp: SUCCESS });
}

function waitingWord(job: MediaJob, context: MediaContext): string {
  if (context.jobs.phase(job) === "running") return "Processing";
  // The first half of the time in line goes by before the line is reached.
  return context.nowMs() < (job.createdAtMs + job.startsAtMs) / 2 ? "Preparing" : "Queueing";
}

/** The second step: `GET /v1/query/video_generation?task_id=`. */
export function showVideo(exchange: Exchange, context: MediaContext, key: string): Response {
  const id = exchange.url.searchParams.get("task_id") ?? "";
  const job = context.jobs.find<VideoOptions>(HOST, id, key);
  if (job === undefined) throw badParameters(firstWord, `task_id ${id} does not exist`);
  const answer = { task_id: id, file_id: "", video_width: 0, video_height: 0 };
  if (context.jobs.phase(job) !== "ended") {
    return Response.json({ ...answer, status: waitingWord(job, context), base_resp: SUCCESS });
  }
  const failed = (code: number, message: string): Response =>
    Response.json({ ...answer, status: "Fail", base_resp: baseResponse(code, message) });
  if (job.outcome === "moderated") return failed(CODES.outputSensitive, "output new_sensitive");
  if (job.outcome === "fails") return failed(CODES.unknown, "unknown error");
  const { width, height } = job.request;
  const made = { file_id: `${FILE_START}${id}`, video_width: width, video_height: height };
  return Response.json({ ...answer, ...made, status: "Success", base_resp: SUCCESS });
}

/** The third step: `GET /v1/files/retrieve?file_id=`. */
export async function showFile(exchange: Exchange, context: MediaContext, key: string): Promise<Response> {
  const id = exchange.url.searchParams.get("file_id") ?? "";
  const job = id.startsWith(FILE_START)
    ? context.jobs.recall<VideoOptions>(HOST, id.slice(FILE_START.length), key)
    : undefined;
  const isThere =
    job !== undefined && context.jobs.phase(job) === "ended" && job.outcome !== "moderated" && job.outcome !== "fails";
  if (!isThere) throw badParameters(firstWord, `file_id ${id} does not exist`);
  const file = {
    file_id: id,
    bytes: (await context.makeVideo(job.request)).length,
    created_at: Math.floor(job.endsAtMs / 1_000),
    filename: "output.mp4",
    purpose: "video_generation",
    download_url: publishVideo(context, job.request, { outcome: job.outcome, keptMs: KEPT_MS }),
  };
  return Response.json({ file, base_resp: SUCCESS });
}
