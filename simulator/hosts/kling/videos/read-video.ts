import { isObject, type JsonObject, textOr } from "../../../json.ts";
import {
  anyText,
  anything,
  type FieldRules,
  faultIn,
  flag,
  listOf,
  numberIn,
  oneOf,
  recordOf,
  text,
} from "../../../media/field-rules.ts";
import { type Frames, framesOf } from "../../../media/given-image.ts";
import { parseSize, sizeOfShortSide } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { invalidParameter, notFound } from "../errors.ts";
import { image, imageOf } from "../given-image.ts";

export interface KlingVideoRequest {
  kind: "videos";
  model: string;
  prompt: string;
  size: ImageSize;
  seconds: number;
  seed: number;
  audio: boolean;
  watermark: boolean;
  frames: Frames;
  externalId: string | undefined;
}

const MODELS = /^(standard|kling-v(1|1-5|1-6|2-master|2-1|2-1-master|2-5-turbo|2-6|3))$/;
const WITH_SOUND = /^(standard|kling-v(2-6|3))$/;
const LONG = /^(standard|kling-v3)$/;
const SHORT_DURATIONS = ["5", "10"];
const LONG_DURATIONS = Array.from({ length: 13 }, (_, index) => String(index + 3));

const axis = numberIn(-10, 10);
const SHARED: FieldRules = {
  model_name: text(),
  prompt: text(2500),
  negative_prompt: anyText,
  mode: oneOf("std", "pro"),
  watermark_info: recordOf({ enabled: flag }),
  callback_url: anyText,
  external_task_id: anyText,
};
const CONTROLLED: FieldRules = {
  cfg_scale: numberIn(0, 1),
  camera_control: recordOf(
    {
      type: text(),
      config: recordOf({ horizontal: axis, vertical: axis, pan: axis, tilt: axis, roll: axis, zoom: axis }),
    },
    ["type"],
  ),
  multi_shot: flag,
  shot_type: text(),
  multi_prompt: anything,
  voice_list: anything,
};
const ratio = oneOf("16:9", "9:16", "1:1");

const ENDPOINTS: Readonly<Record<string, { rules: FieldRules; required: readonly string[] }>> = {
  text2video: { rules: { ...SHARED, ...CONTROLLED, aspect_ratio: ratio }, required: ["prompt"] },
  image2video: {
    rules: {
      ...SHARED,
      ...CONTROLLED,
      image: image,
      image_tail: image,
      static_mask: image,
      dynamic_masks: anything,
      element_list: anything,
    },
    required: [],
  },
  "multi-image2video": {
    rules: { ...SHARED, aspect_ratio: ratio, image_list: listOf(recordOf({ image: image }, ["image"]), 1, 4) },
    required: ["prompt", "image_list"],
  },
};

function rulesOf(rules: FieldRules, model: string): FieldRules {
  return {
    ...rules,
    duration: oneOf(...(LONG.test(model) ? LONG_DURATIONS : SHORT_DURATIONS)),
    ...(WITH_SOUND.test(model) ? { sound: oneOf("on", "off") } : {}),
  };
}

/** The request to an endpoint below `videos`, or its rejection; undefined for an unknown endpoint. */
export function readVideo(endpoint: string, body: JsonObject): KlingVideoRequest | undefined {
  const at = Object.hasOwn(ENDPOINTS, endpoint) ? ENDPOINTS[endpoint] : undefined;
  if (at === undefined) return undefined;
  const model = textOr(body["model_name"], "kling-v1");
  if (!MODELS.test(model)) throw notFound(`The model ${model} does not exist here.`);
  const fault = faultIn(body, rulesOf(at.rules, model), at.required);
  if (fault !== undefined) throw invalidParameter(fault.message);
  const first = imageOf(body["image"]);
  const last = imageOf(body["image_tail"]);
  if (endpoint === "image2video" && first === undefined && last === undefined) {
    throw invalidParameter("One of image and image_tail is required.");
  }
  const prompt = textOr(body["prompt"], "");
  const shape = parseSize(textOr(body["aspect_ratio"], ""), ":") ?? first?.size ?? last?.size;
  return {
    kind: "videos",
    model,
    prompt,
    size: sizeOfShortSide(shape ?? { width: 16, height: 9 }, body["mode"] === "pro" ? 1080 : 720),
    seconds: Number(textOr(body["duration"], "5")),
    seed: seedOf(prompt),
    audio: body["sound"] === "on",
    watermark: isObject(body["watermark_info"]) && body["watermark_info"]["enabled"] === true,
    frames: framesOf(first, last),
    externalId: typeof body["external_task_id"] === "string" ? body["external_task_id"] : undefined,
  };
}
