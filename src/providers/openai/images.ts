// https://platform.openai.com/docs/api-reference/images

import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { AdapterContext, FormPart, ImageAdapter, MediaRequest } from "../../media/adapter.ts";
import type { InlineImage } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import { mediaFailure } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { OPENAI_CODES } from "./errors.ts";
import { imageCapabilities } from "./image-capabilities.ts";
import { readImageEvent, readImages } from "./image-reply.ts";

type StreamedCall = FittedImageCall & { partialImages?: number };

/** Generations as JSON, edits as a form; the fields of both have the same names. */
export const openaiImages: ImageAdapter = {
  serves: (model) => /^(?:gpt-image|chatgpt-image|dall-e)/.test(model),
  capabilities: imageCapabilities,
  submit: (call, context) => request(call, context, settingsOf(call, context.model)),
  readSubmit: readImages,
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
  stream: {
    serves: (model) => imageCapabilities(model).partialImages === true,
    submit: (call, context) => request(call, context, streamSettings(call, context.model)),
    read: readImageEvent,
  },
};

function request(call: FittedImageCall, context: AdapterContext, settings: JsonObject): MediaRequest {
  const fields = { model: context.model, prompt: call.prompt, ...settings };
  if (call.inputs.length === 0) return { method: "POST", url: "/images/generations", body: { json: fields } };
  const values = Object.entries(fields).map(([name, value]) => ({ name, value: String(value) }));
  return { method: "POST", url: "/images/edits", body: { form: [...values, ...files(call)] } };
}

/** Fields that affect the price are sent even if they equal the host's default. */
function settingsOf(call: FittedImageCall, model: string): JsonObject {
  const { pixels, quality, background, outputMimeType, compression, moderation, inputFidelity } = call;
  const size = pixels && `${pixels.width}x${pixels.height}`;
  if (model.startsWith("dall-e")) {
    const newer = model.startsWith("dall-e-3");
    return {
      ...pickExtras(call.extras, newer ? ["style", "user"] : ["user"]),
      n: call.count,
      ...withoutAbsent({ size }),
      ...(newer ? { quality: quality ?? "standard" } : {}),
      response_format: "b64_json",
    };
  }
  const format = outputMimeType?.slice("image/".length);
  return {
    ...pickExtras(call.extras, ["user"]),
    n: call.count,
    size: size ?? "auto",
    quality: quality ?? "auto",
    ...withoutAbsent({ background, output_format: format }),
    // The host refuses a compression level for PNG, its default format.
    ...(compression === undefined || (format ?? "png") === "png" ? {} : { output_compression: compression }),
    ...withoutAbsent({ moderation, input_fidelity: inputFidelity }),
  };
}

function streamSettings(call: StreamedCall, model: string): JsonObject {
  return { ...settingsOf(call, model), stream: true, partial_images: call.partialImages ?? 0 };
}

/** A single image has the field name that the oldest model knows too. */
function files({ inputs, mask }: FittedImageCall): FormPart[] {
  const name = inputs.length === 1 ? "image" : "image[]";
  return [
    ...inputs.map((image, index) => file(name, `image-${index + 1}`, image)),
    ...(mask === undefined ? [] : [file("mask", "mask", mask)]),
  ];
}

/** The host also reads a file's type from its name. */
function file(name: string, stem: string, { mimeType, base64 }: InlineImage): FormPart {
  const extension = mimeType === "image/jpeg" ? "jpg" : mimeType.slice("image/".length);
  return { name, fileName: `${stem}.${extension}`, mimeType, base64 };
}
