import type { Exchange } from "../../../exchange.ts";
import type { Json, JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { framesOf, type GivenImage, givenImage } from "../../../media/given-image.ts";
import { parseDrawable, proportionOf, ratioWithin3, sizeOfShortSide } from "../../../media/image-size.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import { playImmediateOutcome } from "../../../media/play-outcome.ts";
import { publishImage, publishVideo } from "../../../media/publish.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { immediateErrors } from "../../openai/immediate-errors.ts";
import { jsonFields, refuseUnknown } from "../../openai/request-fields.ts";
import { badValue, optionalBoolean, optionalEnum, requireString } from "../../openai/text/check.ts";
import { invalid, modelNotFound } from "../../openai/text/errors.ts";
import { checkShared, contentRefused, requestIdOf, SHARED_FIELDS } from "../shared-fields.ts";
import { LINK_KEPT_MS, takeTask } from "../tasks.ts";

interface VideoRequest {
  model: string;
  prompt: string;
  seconds: number;
  fps: number;
  audio: boolean;
  measures: ImageSize;
  firstFrame?: Uint8Array;
  lastFrame?: Uint8Array;
}

const MODEL = /^(standard|cogvideox-3|viduq1-[a-z-]+|vidu2-[a-z-]+)$/;
const COGVIDEO_FIELDS = ["image_url", "quality", "with_audio", "size", "fps", "duration"];
const VIDU_FIELDS = ["aspect_ratio", "style", "movement_amplitude", "off_peak"];
const MAX_IMAGES = 2;
const SHORT_SIDE = 720;

function optionalNumberOf(values: JsonObject, param: string, supported: readonly number[]): number | undefined {
  const value = values[param];
  if (value === undefined) return undefined;
  const found = supported.find((one) => one === value);
  if (found === undefined) throw badValue(value, supported.map(String), param);
  return found;
}

/** An image for the beginning, or a list of one for the beginning and one for the end. */
function imagesOf(value: Json | undefined): GivenImage[] {
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > MAX_IMAGES) {
    throw invalid("image_url must be one image, or a list of one or two.", "image_url", "invalid_value");
  }
  return list.map((one) => {
    const image = givenImage(requireString(one, "image_url"), ["data URL", "bare base64"]);
    if (image === undefined || image.mimeType === "image/gif") {
      throw invalid("image_url is neither the URL of an image nor one in base64.", "image_url", "invalid_value");
    }
    return image;
  });
}

function measuresOf(values: JsonObject, own: ImageSize | undefined): ImageSize {
  if (values.size !== undefined) {
    const size = requireString(values.size, "size");
    const measures = parseDrawable(size, "x");
    if (measures === undefined || measures.width % 2 !== 0 || measures.height % 2 !== 0) {
      throw badValue(size, ["1280x720", "720x1280", "1024x1024", "1920x1080", "1080x1920"], "size");
    }
    // Where the aspect ratio is given separately, the size is that of the level.
    const shape = typeof values.aspect_ratio === "string" ? proportionOf(values.aspect_ratio) : undefined;
    if (shape === undefined || own !== undefined) return measures;
    return sizeOfShortSide({ width: shape, height: 1 }, Math.min(measures.width, measures.height), 16);
  }
  const ratio = values.aspect_ratio === undefined ? "16:9" : requireString(values.aspect_ratio, "aspect_ratio");
  const proportion = proportionOf(ratio);
  if (proportion === undefined) throw badValue(ratio, ["16:9", "9:16", "1:1"], "aspect_ratio");
  const kept = own === undefined ? { width: proportion, height: 1 } : ratioWithin3(own);
  return sizeOfShortSide(kept, SHORT_SIDE, 16);
}

function readRequest(values: JsonObject): VideoRequest {
  const model = requireString(values.model, "model");
  if (!MODEL.test(model)) throw modelNotFound(model);
  const vidu = model.startsWith("vidu");
  refuseUnknown(Object.keys(values), [
    ...SHARED_FIELDS,
    ...COGVIDEO_FIELDS,
    ...(vidu || model === "standard" ? VIDU_FIELDS : []),
  ]);
  checkShared(values);
  for (const name of ["with_audio", "off_peak"]) optionalBoolean(values, name);
  for (const name of ["style", "movement_amplitude"]) {
    if (values[name] !== undefined) requireString(values[name], name);
  }
  optionalEnum(values, "quality", ["quality", "speed"]);
  const [first, last] = imagesOf(values.image_url);
  const prompt = first !== undefined && values.prompt === undefined ? "" : requireString(values.prompt, "prompt");
  if (first === undefined && prompt === "") {
    throw invalid("prompt and image_url must not both be empty.", "prompt", "invalid_value");
  }
  return {
    model,
    prompt,
    seconds: optionalNumberOf(values, "duration", vidu ? [4, 5, 8, 10] : [5, 10]) ?? 5,
    fps: optionalNumberOf(values, "fps", [30, 60]) ?? 30,
    audio: values.with_audio === true,
    measures: measuresOf(values, first?.size),
    ...framesOf(first, last),
  };
}

export function makeVideo(exchange: Exchange, context: MediaContext, key: string): Response {
  const values = jsonFields(exchange);
  const request = readRequest(values);
  exchange.countModel(request.model);
  const outcome = chooseOutcome(request.prompt, 1, exchange, key);
  const immediate = playImmediateOutcome(outcome, immediateErrors(request.model, contentRefused()));
  if (immediate !== undefined) return immediate;
  const { model, measures, ...video } = request;
  const seed = seedOf(request.prompt);
  const life = { outcome, keptMs: LINK_KEPT_MS };
  const result = (): JsonObject => {
    const url = publishVideo(context, { ...video, ...measures, seed }, life);
    const cover = { prompt: request.prompt, ...measures, seed, format: "jpeg", note: model } as const;
    return { video_result: [{ url, cover_image_url: publishImage(context, cover, life) }] };
  };
  return takeTask({ model, requestId: requestIdOf(values), result, heldBack: {} }, outcome, context, key);
}
