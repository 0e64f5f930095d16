import { isObject, type Json, type JsonObject } from "../../../json.ts";
import {
  anything,
  type FieldRules,
  flag,
  listOf,
  numberIn,
  oneOf,
  recordOf,
  text,
  wholeIn,
} from "../../../media/field-rules.ts";
import { givenImage } from "../../../media/given-image.ts";
import { parseDrawable } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { checkBody, invalidParameter, modelNotFound } from "../errors.ts";
import { type SeedreamModel, seedreamModel } from "./seedream-models.ts";

export interface SeedreamRequest {
  model: string;
  prompt: string;
  size: ImageSize;
  seed: number;
  format: "png" | "jpeg";
  inputs: number;
  count: number;
  encoded: boolean;
  stream: boolean;
  watermark: boolean;
  searches: boolean;
}

const MAX_IMAGES = 15;
/** How many the model makes of a batch whose size was left to it. */
const OWN_BATCH = 3;

const RULES: FieldRules = {
  model: text(),
  prompt: text(),
  image: anything,
  size: text(),
  response_format: oneOf("url", "b64_json"),
  watermark: flag,
  sequential_image_generation: oneOf("auto", "disabled"),
  sequential_image_generation_options: recordOf({ max_images: wholeIn(1, MAX_IMAGES) }),
  stream: flag,
  optimize_prompt_options: recordOf({ mode: oneOf("standard", "fast") }),
};

const EXTRA_RULES: FieldRules = {
  seed: wholeIn(-1, 2 ** 31 - 1),
  guidance_scale: numberIn(1, 10),
  output_format: oneOf("png", "jpeg"),
  tools: listOf(recordOf({ type: oneOf("web_search") }, ["type"]), 1, 1),
  background: anything,
  layer_decomposition: anything,
};

function rulesOf(model: SeedreamModel): FieldRules {
  return {
    ...RULES,
    ...Object.fromEntries(Object.entries(EXTRA_RULES).filter(([name]) => model.extras.includes(name))),
  };
}

function readSize(given: Json | undefined, model: SeedreamModel): ImageSize {
  if (typeof given !== "string") return model.defaultSize;
  const side = Object.hasOwn(model.tiers, given) ? model.tiers[given] : undefined;
  if (side !== undefined) return { width: side, height: side };
  const size = parseDrawable(given, "x");
  if (size === undefined || !model.takes(size)) {
    throw invalidParameter("size", `${given} is not a size that this model makes.`);
  }
  return size;
}

function countReferences(image: Json | undefined, model: SeedreamModel): number {
  if (image === undefined) return 0;
  const given = Array.isArray(image) ? image : [image];
  if (given.length > model.maxReferences) {
    throw invalidParameter("image", `this model takes at most ${model.maxReferences} images, not ${given.length}.`);
  }
  for (const image of given) {
    if (typeof image !== "string" || givenImage(image, ["data URL"]) === undefined) {
      throw invalidParameter("image", "it must be a URL, or data:image/<format in lower case>;base64, and an image.");
    }
  }
  return given.length;
}

function countImages(body: JsonObject, model: SeedreamModel, inputs: number): number {
  const options = body["sequential_image_generation_options"];
  const max = isObject(options) ? options["max_images"] : undefined;
  if (body["sequential_image_generation"] !== "auto") return 1;
  if (!model.batch) throw invalidParameter("sequential_image_generation", "this model makes one image at a time.");
  if (typeof max !== "number") return Math.min(OWN_BATCH, MAX_IMAGES - inputs);
  if (max + inputs > MAX_IMAGES) {
    throw invalidParameter(
      "sequential_image_generation_options.max_images",
      `images given and made may be ${MAX_IMAGES} together, not ${max + inputs}.`,
    );
  }
  return max;
}

/** What is asked for, or the refusal of it. */
export function readImages(body: JsonObject): SeedreamRequest {
  const name = body["model"];
  const model = typeof name === "string" ? seedreamModel(name) : undefined;
  if (typeof name === "string" && model === undefined) throw modelNotFound(name);
  checkBody(body, model === undefined ? RULES : rulesOf(model), ["model", "prompt"]);
  if (typeof name !== "string" || model === undefined) throw invalidParameter("model", "it must be a string.");
  if (body["stream"] === true && !model.stream) throw invalidParameter("stream", "this model does not stream.");
  const prompt = String(body["prompt"]);
  const inputs = countReferences(body["image"], model);
  const seed = body["seed"];
  return {
    model: name,
    prompt,
    size: readSize(body["size"], model),
    seed: typeof seed === "number" && seed >= 0 ? seed : seedOf(prompt),
    format: body["output_format"] === "png" ? "png" : "jpeg",
    inputs,
    count: countImages(body, model, inputs),
    encoded: body["response_format"] === "b64_json",
    stream: body["stream"] === true,
    watermark: body["watermark"] !== false,
    searches: Array.isArray(body["tools"]),
  };
}
