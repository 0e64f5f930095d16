import { isObject, type JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { noteOtherModels, ROUTING_FIELDS } from "../../dialects/reading/routing-fields.ts";
import type { ImageField } from "../fit-image-call.ts";
import type { ImageCall } from "../image-call.ts";
import type { ImageRequest } from "../image-request.ts";
import { Inputs } from "../inputs.ts";
import { type ImageSource, readImageText } from "../read-image.ts";
import { readSize } from "../read-size.ts";
import { checkEdit, checkGeneration } from "./schema.ts";

const WORDS = ["size", "quality", "background", "output_format", "moderation", "response_format", "input_fidelity"];

/** Reads the body of `images/generations`. */
export function decodeGeneration(body: unknown): ImageRequest {
  return decode(checkGeneration(normalise(body)), new Inputs(), false);
}

/** Reads a JSON body of `images/edits`. */
export function decodeEditBody(body: unknown): ImageRequest {
  return decodeEditFields(normalise(body), new Inputs());
}

/** The fields of an edit, whose files a form may have brought already. */
export function decodeEditFields(body: unknown, inputs: Inputs): ImageRequest {
  const decoded = decode(checkEdit(normalise(body)), inputs, true);
  if (decoded.inputPaths.length === 0) refuse("image", "must be the image to edit; it is missing");
  return decoded;
}

/** Accepts words in either case, and null for what is not given. */
function normalise(body: unknown): unknown {
  if (!isObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).flatMap(([key, value]) => {
      if (value === null) return [];
      const word = typeof value === "string" && WORDS.includes(key) ? value.toLowerCase() : value;
      return [[key, key === "output_format" && word === "jpg" ? "jpeg" : word]];
    }),
  );
}

function decode(request: JsonObject, inputs: Inputs, edit: boolean): ImageRequest {
  const notes: FieldNote[] = [];
  const fields = new Fields(request);
  fields.skip("model", ...ROUTING_FIELDS);
  noteOtherModels(request, notes);
  for (const name of ["image", "images"]) readImages(fields.take(name), name, inputs);
  const drawn = fields.take("mask");
  if (drawn !== undefined) inputs.setMask(readSource(drawn, "mask"), "mask");
  const { mask, maskPath, ...given } = inputs.done();
  const size = fields.string("size");
  const stream = fields.boolean("stream") ?? false;
  const partialImages = fields.number("partial_images") ?? 0;
  if (partialImages > 0 && !stream) {
    notes.push({
      path: "partial_images",
      action: "dropped",
      reason: "partial images are sent only in a stream",
    });
  }
  if (fields.string("response_format") === "url") {
    notes.push({ path: "response_format", action: "approximated", reason: "images are returned as b64_json" });
  }
  const call: ImageCall = withoutAbsent({
    prompt: fields.string("prompt") ?? "",
    count: fields.number("n") ?? 1,
    ...readOptions(fields),
    ...(size === undefined ? {} : readSize(size)),
    ...readOutput(fields, notes),
    inputs: given.inputs,
    mask,
    extras: fields.rest() ?? {},
  });
  return {
    call,
    paths: { ...PATHS, ...(maskPath === undefined ? {} : { mask: maskPath }) },
    inputPaths: given.inputPaths,
    links: given.links,
    edit,
    stream,
    partialImages: stream ? partialImages : 0,
    notes,
  };
}

function readImages(value: unknown, path: string, inputs: Inputs): void {
  if (value === undefined) return;
  if (!Array.isArray(value)) inputs.add(readSource(value, path), path);
  else
    for (const [index, item] of value.entries()) inputs.add(readSource(item, `${path}[${index}]`), `${path}[${index}]`);
}

function readSource(value: unknown, path: string): ImageSource {
  if (typeof value === "string") return readImageText(value, path);
  const fields = new Fields(value);
  const url = fields.string("image_url");
  if (url !== undefined) return readImageText(url, `${path}.image_url`);
  return refuse(`${path}.image_url`, "must be a data URL of an image, or an https URL; it is missing");
}

function readOptions(fields: Fields): Partial<ImageCall> {
  const quality = fields.string("quality");
  const background = fields.string("background");
  const moderation = fields.string("moderation");
  const inputFidelity = fields.string("input_fidelity");
  const negativePrompt = fields.string("negative_prompt");
  const aspectRatio = fields.string("aspect_ratio");
  const seed = fields.number("seed");
  const guidanceScale = fields.number("guidance_scale");
  const watermark = fields.boolean("watermark");
  return withoutAbsent({
    quality,
    background,
    moderation,
    inputFidelity,
    negativePrompt,
    aspectRatio: aspectRatio === "auto" ? undefined : aspectRatio,
    seed,
    guidanceScale,
    watermark,
  });
}

function readOutput(fields: Fields, notes: FieldNote[]): Partial<ImageCall> {
  const format = fields.string("output_format");
  const compression = fields.number("output_compression");
  const output = format === undefined ? {} : { outputMimeType: `image/${format}` };
  if (compression === undefined) return output;
  if (format === "jpeg" || format === "webp") return { ...output, compression };
  notes.push({ path: "output_compression", action: "dropped", reason: "compression applies only to jpeg and webp" });
  return output;
}

const PATHS: Readonly<Record<ImageField, string>> = {
  prompt: "prompt",
  count: "n",
  size: "size",
  tier: "size",
  aspectRatio: "aspect_ratio",
  quality: "quality",
  background: "background",
  moderation: "moderation",
  inputFidelity: "input_fidelity",
  outputMimeType: "output_format",
  compression: "output_compression",
  inputs: "image",
  mask: "mask",
  negativePrompt: "negative_prompt",
  seed: "seed",
  guidanceScale: "guidance_scale",
  watermark: "watermark",
  enhancePrompt: "enhance_prompt",
  personGeneration: "person_generation",
  safetySetting: "safety_setting",
  includeRaiReason: "include_rai_reason",
  editMode: "edit_mode",
};
