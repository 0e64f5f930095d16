import { isObject, type Json, type JsonObject } from "../../../json.ts";
import {
  anyText,
  anything,
  type FieldRules,
  flag,
  listOf,
  oneOf,
  recordOf,
  text,
  wholeIn,
} from "../../../media/field-rules.ts";
import { givenImage } from "../../../media/given-image.ts";
import { isDrawable, parseSize } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { checkObject, invalidParameter, modelNotFound } from "../errors.ts";
import { type ImageModel, imageModel, MAX_SEQUENTIAL } from "./image-models.ts";

export interface ImagesRequest {
  kind: "images";
  model: string;
  prompt: string;
  size: ImageSize;
  seed: number;
  count: number;
  inputs: number;
  watermark: boolean;
  spread: ImageModel["spread"];
  /** Whether the answer has choices, as requests with messages get, or results. */
  answersWith: "choices" | "results";
}

const MAX_SEED = 2_147_483_647;

const contentItem = recordOf({ image: text(Number.POSITIVE_INFINITY), text: text() });
const message = recordOf({ role: oneOf("user"), content: listOf(contentItem, 1, 32) }, ["role", "content"]);
const INPUT_RULES: Readonly<Record<ImageModel["served"][number], FieldRules>> = {
  sync: { messages: listOf(message, 1, 1) },
  "messages task": { messages: listOf(message, 1, 1) },
  "text task": { prompt: text(), negative_prompt: anyText },
  "images task": { prompt: text(), negative_prompt: anyText, images: listOf(text(Number.POSITIVE_INFINITY), 1, 9) },
};

function checkParameters(parameters: JsonObject, model: ImageModel): void {
  const max = parameters["enable_sequential"] === true ? MAX_SEQUENTIAL : model.maxImages;
  const extras = { negative_prompt: anyText, thinking_mode: flag, enable_sequential: flag };
  const own = Object.entries(extras).filter(([name]) => model.extras.includes(name));
  const rules: FieldRules = {
    n: wholeIn(1, max),
    size: text(),
    seed: wholeIn(0, MAX_SEED),
    watermark: flag,
    prompt_extend: flag,
    ...Object.fromEntries(own),
  };
  checkObject(parameters, rules, [], "parameters.");
}

function readSize(given: Json | undefined, model: ImageModel, references: number): ImageSize {
  if (typeof given !== "string") return { width: model.defaultSide, height: model.defaultSide };
  const side = Object.hasOwn(model.tiers, given) ? model.tiers[given] : undefined;
  if (side !== undefined) return { width: side, height: side };
  const size = parseSize(given, "*");
  const isFit = size !== undefined && size.width % 16 === 0 && size.height % 16 === 0 && isDrawable(size);
  if (!isFit || !model.takes(size, references)) {
    throw invalidParameter(`parameters.size ${given} is not a size that this model makes.`);
  }
  return size;
}

/** The words and images, wherever this URL has them. */
function readInput(input: JsonObject): { prompts: string[]; images: string[] } {
  if (typeof input["prompt"] === "string") {
    return { prompts: [input["prompt"]], images: Array.isArray(input["images"]) ? input["images"].map(String) : [] };
  }
  const messages = Array.isArray(input["messages"]) ? input["messages"] : [];
  const items = messages.flatMap((item) => (isObject(item) && Array.isArray(item["content"]) ? item["content"] : []));
  const of = (field: string): string[] =>
    items.flatMap((item) => (isObject(item) && typeof item[field] === "string" ? [item[field]] : []));
  return { prompts: of("text"), images: of("image") };
}

function checkImages(images: readonly string[], [min, max]: ImageModel["references"]): void {
  if (images.length < min || images.length > max) {
    throw invalidParameter(`This model takes ${min} to ${max} images, not ${images.length}.`);
  }
  for (const image of images) {
    if (givenImage(image, ["data URL"]) === undefined) {
      throw invalidParameter("An image of the input is neither a URL nor the data of an image.");
    }
  }
}

/** What is asked for, or the refusal of it. */
export function readImages(body: JsonObject, served: ImageModel["served"][number]): ImagesRequest {
  const rules: FieldRules = { model: text(), input: recordOf(INPUT_RULES[served]), parameters: anything };
  checkObject(body, rules, ["model", "input"]);
  const name = String(body["model"]);
  const model = imageModel(name, served);
  if (model === undefined) throw modelNotFound(name);
  const parameters = body["parameters"] ?? {};
  if (!isObject(parameters)) throw invalidParameter("parameters must be an object.");
  checkParameters(parameters, model);
  const { prompts, images } = readInput(isObject(body["input"]) ? body["input"] : {});
  const [prompt] = prompts;
  if (prompt === undefined || prompts.length > 1) throw invalidParameter("input must have exactly one text.");
  checkImages(images, model.references);
  const { n, seed } = parameters;
  return {
    kind: "images",
    model: name,
    prompt,
    size: readSize(parameters["size"], model, images.length),
    seed: typeof seed === "number" ? seed : seedOf(prompt),
    count: typeof n === "number" ? n : model.defaultImages,
    inputs: images.length,
    watermark: parameters["watermark"] === true,
    spread: model.spread,
    answersWith: served === "sync" || served === "messages task" ? "choices" : "results",
  };
}
