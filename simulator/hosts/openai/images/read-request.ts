import type { JsonObject } from "../../../json.ts";
import type { GivenImage } from "../../../media/given-image.ts";
import { refuseUnknown } from "../request-fields.ts";
import { optionalBoolean, optionalEnum, optionalNumber, requireString } from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { type ImageFamily, imageFamilyOf, measuresOf } from "./image-families.ts";

export type ImageAction = "generation" | "edit";

/** What a checked request asks for, with every default resolved. */
export interface ImageRequest {
  action: ImageAction;
  model: string;
  gpt: boolean;
  revises: boolean;
  prompt: string;
  count: number;
  width: number;
  height: number;
  quality: string;
  background: string;
  format: "png" | "jpeg" | "webp";
  compression?: number;
  stream: boolean;
  partials: number;
  answersWith: string;
  inputs: readonly GivenImage[];
}

const SHARED_FIELDS = ["prompt", "model", "n", "size", "quality", "user"];

function knownFields(family: ImageFamily, action: ImageAction, form: boolean): string[] {
  if (action === "generation") return [...SHARED_FIELDS, ...family.ownFields];
  // Only the JSON form of an edit knows moderation.
  const own = family.ownFields.filter((name) => !form || name !== "moderation");
  const images = form ? ["image", "image[]", "mask"] : ["images", "mask"];
  return [...SHARED_FIELDS, ...own, ...images, ...(family.gpt ? ["input_fidelity"] : [])];
}

/** An edit keeps the attitude of its first image. */
function ownMeasures(first: GivenImage | undefined): { width: number; height: number } {
  const { width, height } = first?.size ?? { width: 1, height: 1 };
  if (width === height) return { width: 1024, height: 1024 };
  return width > height ? { width: 1536, height: 1024 } : { width: 1024, height: 1536 };
}

function formatOf(values: JsonObject): ImageRequest["format"] {
  const format = optionalEnum(values, "output_format", ["png", "jpeg", "webp"]);
  return format === "jpeg" || format === "webp" ? format : "png";
}

function checkAgainstFormat(format: string, background: string, compression: number | undefined): void {
  if (background === "transparent" && format === "jpeg") {
    throw invalid("Transparent background is not supported for 'jpeg' output.", "background", "invalid_value");
  }
  if (compression !== undefined && compression < 100 && format === "png") {
    throw invalid("Compression below 100 is not supported for 'png' output.", "output_compression", "invalid_value");
  }
}

function promptOf(values: JsonObject, family: ImageFamily): string {
  const prompt = requireString(values.prompt, "prompt");
  const length = [...prompt].length;
  if (length === 0 || length > family.maxPromptCharacters) {
    throw invalid(
      `Invalid 'prompt': expected a string of 1 to ${family.maxPromptCharacters} characters, but got ${length}.`,
      "prompt",
      length === 0 ? "string_below_min_length" : "string_above_max_length",
    );
  }
  return prompt;
}

export function modelOf(values: JsonObject): string {
  return values.model === undefined || values.model === null ? "dall-e-2" : requireString(values.model, "model");
}

/** Reads and checks everything but the images. */
export function readImageRequest(
  values: JsonObject,
  action: ImageAction,
  form: boolean,
  inputs: readonly GivenImage[],
): ImageRequest {
  const model = modelOf(values);
  const family = imageFamilyOf(model);
  if (action === "edit" && !family.edits) {
    throw invalid(`The model '${model}' does not support image edits.`, "model", "invalid_value");
  }
  refuseUnknown(Object.keys(values), knownFields(family, action, form));
  if (optionalEnum(values, "input_fidelity", ["high", "low"]) !== undefined && !family.inputFidelity) {
    throw invalid(
      `The model '${model}' does not support 'input_fidelity'.`,
      "input_fidelity",
      "invalid_input_fidelity",
    );
  }
  for (const [name, supported] of [
    ["moderation", ["low", "auto"]],
    ["style", ["vivid", "natural"]],
  ] as const) {
    optionalEnum(values, name, supported);
  }
  if (values.user !== undefined && values.user !== null) requireString(values.user, "user");

  const format = formatOf(values);
  const background = optionalEnum(values, "background", ["transparent", "opaque", "auto"]) ?? "auto";
  const compression = optionalNumber(values, "output_compression", [0, 100], true);
  checkAgainstFormat(format, background, compression);
  const size = values.size ?? undefined;
  const asked = size === undefined ? undefined : measuresOf(requireString(size, "size"), family);
  const quality = optionalEnum(values, "quality", family.qualities) ?? "auto";
  return {
    action,
    model,
    gpt: family.gpt,
    revises: family.ownFields.includes("style"),
    prompt: promptOf(values, family),
    count: optionalNumber(values, "n", [1, family.maxImages], true) ?? 1,
    ...(asked ?? ownMeasures(family.gpt ? inputs[0] : undefined)),
    quality: quality === "auto" ? "high" : quality,
    background: background === "auto" ? "opaque" : background,
    format,
    ...(compression === undefined ? {} : { compression }),
    stream: optionalBoolean(values, "stream") ?? false,
    partials: optionalNumber(values, "partial_images", [0, 3], true) ?? 0,
    answersWith: family.gpt ? "b64_json" : (optionalEnum(values, "response_format", ["url", "b64_json"]) ?? "url"),
    inputs,
  };
}
