import { isObject, type Json, type JsonObject } from "../../../json.ts";
import {
  anyText,
  type FieldRules,
  faultIn,
  flag,
  listOf,
  numberIn,
  oneOf,
  recordOf,
  text,
  wholeIn,
} from "../../../media/field-rules.ts";
import { parseSize, sizeOfArea } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { invalidParameter, notFound } from "../errors.ts";
import { image } from "../given-image.ts";

export interface KlingImagesRequest {
  kind: "images";
  model: string;
  prompt: string;
  size: ImageSize;
  seed: number;
  count: number;
  inputs: number;
  watermark: boolean;
  externalId: string | undefined;
}

const MODELS = /^(standard|kling-v(1|1-5|2|2-new|2-1|3))$/;
const OMNI_MODELS = /^(standard|kling-image-o1|kling-v3-omni)$/;
const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9"] as const;

const SHARED: FieldRules = {
  model_name: text(),
  prompt: text(2500),
  resolution: oneOf("1k", "2k"),
  n: wholeIn(1, 9),
  aspect_ratio: oneOf(...RATIOS),
  watermark_info: recordOf({ enabled: flag }),
  callback_url: anyText,
  external_task_id: anyText,
};

interface Endpoint {
  models: RegExp;
  rules: FieldRules;
  required: readonly string[];
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  generations: {
    models: MODELS,
    rules: {
      ...SHARED,
      negative_prompt: anyText,
      image: image,
      image_reference: oneOf("subject", "face"),
      image_fidelity: numberIn(0, 1),
      human_fidelity: numberIn(0, 1),
    },
    required: ["prompt"],
  },
  "multi-image2image": {
    models: MODELS,
    rules: {
      ...SHARED,
      subject_image_list: listOf(recordOf({ subject_image: image }, ["subject_image"]), 1, 4),
      scene_image: image,
      style_image: image,
    },
    required: ["subject_image_list"],
  },
  "omni-image": {
    models: OMNI_MODELS,
    rules: { ...SHARED, image_list: listOf(recordOf({ image: image }, ["image"]), 1, 10) },
    required: ["prompt"],
  },
};

const lengthOf = (value: Json | undefined): number =>
  Array.isArray(value) ? value.length : value === undefined ? 0 : 1;

/** The request to an endpoint below `images`, or its rejection; undefined for an unknown endpoint. */
export function readImages(endpoint: string, body: JsonObject): KlingImagesRequest | undefined {
  const at = Object.hasOwn(ENDPOINTS, endpoint) ? ENDPOINTS[endpoint] : undefined;
  if (at === undefined) return undefined;
  const fault = faultIn(body, at.rules, at.required);
  if (fault !== undefined) throw invalidParameter(fault.message);
  const model = typeof body["model_name"] === "string" ? body["model_name"] : undefined;
  if (model !== undefined && !at.models.test(model)) throw notFound(`The model ${model} does not exist here.`);
  if (body["image"] !== undefined && body["negative_prompt"] !== undefined) {
    throw invalidParameter("negative_prompt is not supported together with image.");
  }
  const prompt = typeof body["prompt"] === "string" ? body["prompt"] : "";
  const shape = parseSize(String(body["aspect_ratio"] ?? "16:9"), ":") ?? { width: 16, height: 9 };
  const inputs = ["image", "subject_image_list", "scene_image", "style_image", "image_list"];
  return {
    kind: "images",
    model: model ?? "kling-v1",
    prompt,
    size: sizeOfArea(shape, (body["resolution"] === "2k" ? 2048 : 1024) ** 2),
    seed: seedOf(prompt),
    count: typeof body["n"] === "number" ? body["n"] : 1,
    inputs: inputs.reduce((sum, field) => sum + lengthOf(body[field]), 0),
    watermark: isObject(body["watermark_info"]) && body["watermark_info"]["enabled"] === true,
    externalId: typeof body["external_task_id"] === "string" ? body["external_task_id"] : undefined,
  };
}
