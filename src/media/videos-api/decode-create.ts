import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { noteOtherModels, ROUTING_FIELDS } from "../../dialects/reading/routing-fields.ts";
import { defineBodyCheck } from "../check-body.ts";
import { type ImageSource, readImageText } from "../read-image.ts";
import type { VideoCall } from "../video-call.ts";
import type { VideoRequest } from "../video-request.ts";
import { readVideoSize } from "../video-size.ts";
import { VIDEO_PATHS } from "./paths.ts";
import { VideoCreateRequest } from "./schema.ts";

/** The model of requests that name none. */
export const DEFAULT_MODEL = "sora-2";

/** The vendor's defaults. Its only shape without a `size` is upright. */
const DEFAULTS = { aspectRatio: "9:16", seconds: 4 };

const UNSIZED = { ...VIDEO_PATHS, aspectRatio: "aspect_ratio", resolution: "resolution" };

const check = defineBodyCheck(VideoCreateRequest, ({ size, aspect_ratio, resolution }) => {
  if (size === undefined) return;
  if (aspect_ratio !== undefined) refuse("aspect_ratio", "cannot be combined with size");
  if (resolution !== undefined) refuse("resolution", "cannot be combined with size");
});

/** Reads the body of `POST /v1/videos`, or the body that a form stands for. */
export function decodeCreate(body: unknown): VideoRequest {
  const checked = check(body);
  const fields = new Fields(checked);
  fields.skip("model", ...ROUTING_FIELDS);
  const notes: FieldNote[] = [];
  noteOtherModels(checked, notes);
  const source = readReference(fields.take("input_reference"));
  const isLink = source !== undefined && "url" in source;
  const seconds = fields.take("seconds");
  const call: VideoCall = {
    ...withoutAbsent({
      prompt: fields.string("prompt"),
      image: isLink ? undefined : source,
      seconds: seconds === undefined ? undefined : Number(seconds),
      audio: fields.boolean("generate_audio"),
      negativePrompt: fields.string("negative_prompt"),
      seed: fields.number("seed"),
    }),
    ...readShape(fields),
    count: 1,
    defaults: DEFAULTS,
    extras: {},
  };
  call.extras = fields.rest() ?? {};
  return {
    call,
    paths: call.size === undefined ? UNSIZED : VIDEO_PATHS,
    links: isLink ? [{ url: source.url, field: "image" }] : [],
    notes,
  };
}

function readShape(fields: Fields): Pick<VideoCall, "size" | "aspectRatio" | "resolution"> {
  const size = fields.string("size");
  if (size !== undefined) return { size, ...readVideoSize(size) };
  const aspectRatio = fields.string("aspect_ratio");
  const resolution = fields.string("resolution");
  return withoutAbsent({ aspectRatio: aspectRatio === "auto" ? undefined : aspectRatio, resolution });
}

function readReference(value: unknown): ImageSource | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return readImageText(value, "input_reference");
  const reference = new Fields(value);
  const url = reference.string("image_url");
  if (url !== undefined) return readImageText(url, "input_reference.image_url");
  return refuse("input_reference.image_url", "must be a data URL of an image, or an https URL; it is missing");
}
