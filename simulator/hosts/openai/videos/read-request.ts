import { parseDrawable } from "../../../media/image-size.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { imageInFile, imageInReference } from "../images/image-inputs.ts";
import { duplicate, type Fields, refuseUnknown } from "../request-fields.ts";
import { optionalEnum, requireString } from "../text/check.ts";
import { invalid, modelNotFound } from "../text/errors.ts";

export interface VideoRequest {
  model: string;
  prompt: string;
  /** A string, in requests and in answers. */
  seconds: string;
  size: string;
  measures: ImageSize;
  firstFrame?: Uint8Array;
  remixedFrom?: string;
  deleted?: true;
}

const MODEL = /^(standard|sora-2(-pro)?(-\d{4}-\d{2}-\d{2})?)$/;
const SIZES = ["720x1280", "1280x720"];
const LARGE_SIZES = ["1024x1792", "1792x1024"];
const SECONDS = ["4", "8", "12"];

function videoModelOf({ values }: Fields): string {
  const model = values.model === undefined || values.model === null ? "sora-2" : requireString(values.model, "model");
  if (!MODEL.test(model)) throw modelNotFound(model);
  return model;
}

export function promptIn({ values }: Fields): string {
  const prompt = requireString(values.prompt, "prompt");
  if (prompt === "") throw invalid("Invalid 'prompt': empty string.", "prompt", "string_below_min_length");
  return prompt;
}

function firstFrameIn({ values, files }: Fields): Uint8Array | undefined {
  refuseUnknown(files?.keys() ?? [], ["input_reference"]);
  const [file, second] = files?.get("input_reference") ?? [];
  if (second !== undefined) throw duplicate("input_reference");
  if (file !== undefined) return imageInFile(file, "input_reference").bytes;
  if (values.input_reference === undefined || values.input_reference === null) return undefined;
  return imageInReference(values.input_reference, "input_reference").bytes;
}

export function readVideoRequest(fields: Fields): VideoRequest {
  const { values } = fields;
  const model = videoModelOf(fields);
  refuseUnknown(Object.keys(values), ["model", "prompt", "seconds", "size", "input_reference"]);
  const prompt = promptIn(fields);
  const seconds = optionalEnum(values, "seconds", SECONDS) ?? "4";
  const large = model === "standard" || model.startsWith("sora-2-pro");
  const size = optionalEnum(values, "size", large ? [...SIZES, ...LARGE_SIZES] : SIZES) ?? "720x1280";
  const firstFrame = firstFrameIn(fields);
  return {
    model,
    prompt,
    seconds,
    size,
    measures: parseDrawable(size, "x") ?? { width: 720, height: 1280 },
    ...(firstFrame === undefined ? {} : { firstFrame }),
  };
}
