import type { JsonObject } from "../../../json.ts";
import { sizeOfShortSide } from "../../../media/image-size.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { refuseUnknown } from "../../openai/request-fields.ts";
import { optionalEnum, optionalNumber, requireArray, requireObject, requireString } from "../../openai/text/check.ts";
import { invalid, modelNotFound } from "../../openai/text/errors.ts";
import { aspectOf } from "../aspect-of.ts";
import { readImage, readImages } from "../read-images.ts";

export type VideoAction = "generations" | "edits" | "extensions";

export interface VideoRequest {
  model: string;
  prompt: string;
  seconds: number;
  measures: ImageSize;
  resolution: string;
  firstFrame?: Uint8Array;
}

const MODEL = /^(standard|grok-imagine-video(-\d+(\.\d+)?)?)$/;
const RESOLUTIONS = ["480p", "720p", "1080p"];
const MAX_SECONDS = 15;
const MAX_REFERENCES = 7;

const FIELDS: Readonly<Record<VideoAction, readonly string[]>> = {
  generations: ["duration", "aspect_ratio", "resolution", "image", "reference_images", "reference_audios"],
  edits: ["video"],
  extensions: ["video", "duration"],
};

function checkVideo(values: JsonObject): void {
  const video = requireObject(values.video, "video");
  refuseUnknown(Object.keys(video), ["url"]);
  const url = requireString(video.url, "video.url");
  if (!/^(https?:\/\/|data:video\/)/.test(url)) {
    throw invalid("video.url is neither a video in a data URL nor a URL.", "video.url", "invalid_value");
  }
}

function checkAudios(values: JsonObject): void {
  if (values.reference_audios === undefined) return;
  for (const [at, one] of requireArray(values.reference_audios, "reference_audios").entries()) {
    const audio = requireObject(one, `reference_audios[${at}]`);
    requireString(audio.voice_id, `reference_audios[${at}].voice_id`);
  }
}

export function readVideoRequest(values: JsonObject, action: VideoAction): VideoRequest {
  const model = requireString(values.model, "model");
  if (!MODEL.test(model)) throw modelNotFound(model);
  refuseUnknown(Object.keys(values), ["model", "prompt", "user", ...FIELDS[action]]);
  if (action !== "generations") checkVideo(values);
  checkAudios(values);
  if (values.reference_images !== undefined) {
    readImages(values.reference_images, "reference_images", MAX_REFERENCES);
  }
  const first = values.image === undefined ? undefined : readImage(values.image, "image");
  const prompt = first !== undefined && values.prompt === undefined ? "" : requireString(values.prompt, "prompt");
  const resolution = optionalEnum(values, "resolution", RESOLUTIONS) ?? "480p";
  const wide = values.aspect_ratio === undefined && first?.size === undefined;
  const ratio = wide ? { width: 16, height: 9 } : aspectOf(values, first?.size);
  return {
    model,
    prompt,
    seconds: optionalNumber(values, "duration", [1, MAX_SECONDS], true) ?? 6,
    measures: sizeOfShortSide(ratio, Number.parseInt(resolution, 10), 16),
    resolution,
    ...(first?.bytes === undefined ? {} : { firstFrame: first.bytes }),
  };
}
