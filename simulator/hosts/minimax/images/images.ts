import type { Exchange } from "../../../exchange.ts";
import type { Json } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { Fields } from "../../../media/fields.ts";
import { givenImage } from "../../../media/given-image.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { isHeldBack, playImmediateOutcome, waitFor } from "../../../media/play-outcome.ts";
import { encodeImage, publishImage } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageOptions } from "../../../media-maker/paint-image.ts";
import { names } from "../../../names.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { badParameters, CODES, firstWord, immediateErrors, refusalsIn, SUCCESS } from "../refusals.ts";

const MODELS = ["image-01", "image-01-live", "standard"] as const;
const FIELDS = names(
  `model prompt aspect_ratio width height response_format seed n prompt_optimizer aigc_watermark subject_reference style`,
);
const SIZES = {
  "1:1": [1024, 1024],
  "16:9": [1280, 720],
  "4:3": [1152, 864],
  "3:2": [1248, 832],
  "2:3": [832, 1248],
  "3:4": [864, 1152],
  "9:16": [720, 1280],
  "21:9": [1344, 576],
} as const;
const RATIOS = Object.keys(SIZES) as (keyof typeof SIZES)[];
const MAX_PROMPT_CHARACTERS = 1_500;
const MAX_IMAGES = 9;
const SIDE_STEP = 8;
const KEPT_MS = 24 * 3_600_000;
const REFUSALS = refusalsIn(firstWord);

interface ImageRequest extends ImageSize {
  prompt: string;
  model: string;
  count: number;
  seed: number;
  inputs: number;
  asBase64: boolean;
}

function readSize(body: Fields): ImageSize {
  const ratio = body.choice("aspect_ratio", RATIOS);
  const sides = (["width", "height"] as const).map((name) => {
    const side = body.whole(name, 512, 2048);
    if (side !== undefined && side % SIDE_STEP !== 0) throw body.refuse(name, `a multiple of ${SIDE_STEP}`);
    return side;
  });
  const [width, height] = sides;
  if ((width === undefined) !== (height === undefined)) {
    throw badParameters(firstWord, "width and height must be set together");
  }
  // A ratio wins over sides.
  if (ratio === undefined && width !== undefined && height !== undefined) return { width, height };
  const [wide, high] = SIZES[ratio ?? "1:1"];
  return { width: wide, height: high };
}

function checkSubject(value: Json, at: number): void {
  const path = `subject_reference[${at}]`;
  const subject = new Fields(value, path, names("type image_file"), REFUSALS);
  if (subject.choice("type", ["character"]) === undefined) throw REFUSALS.missing(`${path}.type`);
  if (givenImage(subject.requiredText("image_file"), ["data URL"]) === undefined) {
    throw badParameters(firstWord, `${path}.image_file is neither a URL nor an image as a data URI`);
  }
}

function read(exchange: Exchange): ImageRequest {
  const body = new Fields(exchange.body, "", FIELDS, REFUSALS);
  const model = body.requiredText("model");
  exchange.countModel(model);
  if (!MODELS.some((known) => known === model)) throw badParameters(firstWord, `model ${model} does not exist`);
  const prompt = body.requiredText("prompt", MAX_PROMPT_CHARACTERS);
  const subjects = body.list("subject_reference");
  for (const [at, value] of subjects.entries()) checkSubject(value, at);
  if (body.has("style") && model === "image-01") throw badParameters(firstWord, `style is not supported by ${model}`);
  for (const name of ["prompt_optimizer", "aigc_watermark"]) body.flag(name);
  return {
    prompt,
    model,
    ...readSize(body),
    count: body.whole("n", 1, MAX_IMAGES) ?? 1,
    seed: body.whole("seed", 0, Number.MAX_SAFE_INTEGER - MAX_IMAGES) ?? seedOf(prompt),
    inputs: subjects.length,
    asBase64: body.choice("response_format", ["url", "base64"]) === "base64",
  };
}

function imageOf(request: ImageRequest, index: number): ImageOptions {
  const { prompt, width, height, inputs, model } = request;
  return { prompt, width, height, seed: request.seed + index, format: "jpeg", inputs, note: model };
}

/** `POST /v1/image_generation`: answers when the images are there, and counts those that are not. */
export async function makeImages(exchange: Exchange, context: MediaContext, key: string): Promise<Response> {
  const request = read(exchange);
  const outcome = chooseOutcome(request.prompt, request.count, exchange, key);
  const immediate = playImmediateOutcome(outcome, immediateErrors(firstWord));
  if (immediate !== undefined) return immediate;
  const id = crypto.randomUUID().replaceAll("-", "");
  const job = context.jobs.create({ id, host: "minimax images", key, request: null, outcome });
  if (outcome === "slow") await waitFor(job, context, exchange.signal);
  if (outcome === "fails") throw firstWord(200, CODES.unknown, "unknown error");
  const indexes = Array.from({ length: request.count }, (_, index) => index);
  const made = indexes.filter((index) => !isHeldBack(outcome, index));
  if (made.length === 0) throw firstWord(200, CODES.outputSensitive, "output new_sensitive");
  const images = made.map((index) => imageOf(request, index));
  const data = request.asBase64
    ? { image_base64: await Promise.all(images.map(encodeImage)) }
    : { image_urls: images.map((image) => publishImage(context, image, { outcome, keptMs: KEPT_MS })) };
  const metadata = { success_count: String(made.length), failed_count: String(request.count - made.length) };
  return Response.json({ id, data, metadata, base_resp: SUCCESS });
}
