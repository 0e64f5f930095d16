// https://www.volcengine.com/docs/82379/1541523

import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt, type Usage } from "../../canon/usage.ts";
import type { AdapterContext, ImageAdapter } from "../../media/adapter.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageEvent, ImageResult, ImageSettings } from "../../media/image-reply.ts";
import { dataUrl } from "../media-adapters/data-url.ts";
import { failedImage } from "../media-adapters/failed-job.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { readError, readFailure } from "./errors.ts";
import { makesBatches, seedream } from "./seedream.ts";

const PATH = "/images/generations";
const EXTRAS = ["optimize_prompt_options", "layer_decomposition", "tools"];

const serves = (model: string): boolean => /seedream|^ep-/.test(model);

function bodyOf(call: FittedImageCall, { model }: AdapterContext): JsonObject {
  const { pixels, seed, guidanceScale, background, outputMimeType } = call;
  return {
    ...pickExtras(call.extras, EXTRAS),
    model,
    prompt: call.prompt,
    response_format: "b64_json",
    // The host adds a watermark by default.
    watermark: call.watermark ?? false,
    ...(pixels && { size: `${pixels.width}x${pixels.height}` }),
    ...imagesOf(call.inputs),
    ...(makesBatches(model) && batchOf(call)),
    ...(seed !== undefined && { seed }),
    ...(guidanceScale !== undefined && { guidance_scale: guidanceScale }),
    ...(background !== undefined && { background }),
    ...(outputMimeType !== undefined &&
      seedream(model).formats.length > 1 && { output_format: outputMimeType.replace("image/", "") }),
  };
}

function imagesOf(inputs: readonly InlineImage[]): JsonObject {
  const [first, ...others] = inputs.map(dataUrl);
  if (first === undefined) return {};
  return { image: others.length === 0 ? first : [first, ...others] };
}

/** There is no `n`: a batch is a series of related images, and its number is the most that it may have. */
function batchOf({ count }: FittedImageCall): JsonObject {
  return count > 1
    ? { sequential_image_generation: "auto", sequential_image_generation_options: { max_images: count } }
    : { sequential_image_generation: "disabled" };
}

/** An item of an answer's `data`, or an event: both hold an image or an error. */
function readResult(item: JsonObject): ImageResult<InlineImage | MediaLink> {
  const base64 = stringAt(item, "b64_json");
  if (base64) return { kind: "made", image: { mimeType: imageType(base64, "image/jpeg"), base64 } };
  const url = stringAt(item, "url");
  if (url) return { kind: "made", image: { url } };
  return failedImage(readFailure(objectAt(item, "error")));
}

function readSettings(item: unknown): ImageSettings | undefined {
  const size = stringAt(item, "size");
  return size === undefined ? undefined : { size };
}

function readUsage(body: JsonObject): Usage | undefined {
  const usage = objectAt(body, "usage");
  const images = countAt(usage, "generated_images");
  if (images === undefined) return undefined;
  const imageOutput = countAt(usage, "output_tokens");
  return { images, ...withoutAbsent({ imageOutput }) };
}

function readEvent(event: JsonObject): ImageEvent | undefined {
  const settings = readSettings(event);
  const usage = readUsage(event);
  switch (stringAt(event, "type")) {
    // "Partial" is about the batch: each of these is a finished image.
    case "image_generation.partial_succeeded":
    case "image_generation.partial_failed":
      return { kind: "result", result: readResult(event), ...(settings && { settings }) };
    case "image_generation.completed":
      return { kind: "end", ...(usage && { usage }) };
    default: {
      const failure = objectAt(event, "error");
      if (failure) throw readFailure(failure);
      return undefined;
    }
  }
}

/** Seedream. */
export const images: ImageAdapter = {
  serves,
  capabilities: seedream,
  submit: (call, context) => ({ method: "POST", url: PATH, body: { json: bodyOf(call, context) } }),
  readSubmit: ({ body }) => {
    const items = arrayAt(body, "data").filter(isObject);
    if (body === undefined || items.length === 0) {
      const failure = objectAt(body, "error");
      throw failure ? readFailure(failure) : emptyAnswer("an image");
    }
    const usage = readUsage(body);
    const settings = readSettings(items.find((item) => item["size"] !== undefined));
    return {
      state: "done",
      reply: { results: items.map(readResult), ...(usage && { usage }), ...(settings && { settings }) },
    };
  },
  error: readError,
  stream: {
    serves: makesBatches,
    submit: (call, context) => ({
      method: "POST",
      url: PATH,
      body: { json: { ...bodyOf(call, context), stream: true } },
    }),
    read: readEvent,
  },
};
