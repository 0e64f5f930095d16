import {
  anyText,
  type FieldRule,
  type FieldRules,
  flag,
  numberIn,
  oneOf,
  text,
  wholeIn,
} from "../../../media/field-rules.ts";
import { givenImage } from "../../../media/given-image.ts";
import { parseSize } from "../../../media/image-size.ts";

/** What one endpoint takes; the model is the URL. */
export interface FluxModel {
  rules: FieldRules;
  required: readonly string[];
  /** About how many pixels an image has whose size was not given. */
  pixels: number;
}

const ONE_MEGAPIXEL = 1024 ** 2;
const MAX_INPUTS = 8;

const side: FieldRule = (value, path) =>
  wholeIn(64, 4096)(value, path) ?? (Number(value) % 16 === 0 ? undefined : `${path} must be a multiple of 16.`);

const ratio: FieldRule = (value, path) => {
  const shape = typeof value === "string" ? parseSize(value, ":") : undefined;
  const isFit = shape !== undefined && shape.width * 9 <= shape.height * 21 && shape.height * 9 <= shape.width * 21;
  return isFit ? undefined : `${path} must be a ratio from "21:9" to "9:21".`;
};

const image: FieldRule = (value, path) =>
  typeof value === "string" && givenImage(value, ["bare base64", "data URL"]) !== undefined
    ? undefined
    : `${path} must be an image in base64, or the URL of one.`;

/** `input_image`, `input_image_2`, and so on. */
export const INPUT_FIELDS: readonly string[] = [
  "input_image",
  ...Array.from({ length: MAX_INPUTS - 1 }, (_, index) => `input_image_${index + 2}`),
];

const EVERYWHERE: FieldRules = {
  prompt: text(),
  seed: wholeIn(0, 2 ** 32 - 1),
  safety_tolerance: wholeIn(0, 6),
  output_format: oneOf("jpeg", "png"),
  webhook_url: text(),
  webhook_secret: anyText,
};
const SIDES: FieldRules = { width: side, height: side };
const RATIO: FieldRules = { aspect_ratio: ratio };
const UPSAMPLING: FieldRules = { prompt_upsampling: flag };
const STEERING: FieldRules = { guidance: numberIn(1, 100), steps: wholeIn(1, 50) };
const IMAGE_PROMPT: FieldRules = { image_prompt: image };
const INPUTS: FieldRules = Object.fromEntries(INPUT_FIELDS.map((field) => [field, image]));
const FILL: FieldRules = { image: image, mask: image };
const margin = wholeIn(0, 2048);
const EXPAND: FieldRules = { image: image, top: margin, bottom: margin, left: margin, right: margin };
const ULTRA: FieldRules = { raw: flag, image_prompt_strength: numberIn(0, 1) };

function endpoint(required: readonly string[], pixels: number, ...parts: readonly FieldRules[]): FluxModel {
  return { rules: Object.assign({}, EVERYWHERE, ...parts), required, pixels };
}

const flux2 = endpoint(["prompt"], ONE_MEGAPIXEL, SIDES, INPUTS, UPSAMPLING);
const kontext = endpoint(["prompt"], ONE_MEGAPIXEL, RATIO, INPUTS, UPSAMPLING);

const MODELS: Readonly<Record<string, FluxModel>> = {
  "flux-2-pro": flux2,
  "flux-2-max": flux2,
  "flux-2-klein-9b": flux2,
  "flux-2-klein-4b": flux2,
  "flux-2-flex": endpoint(["prompt"], ONE_MEGAPIXEL, SIDES, INPUTS, UPSAMPLING, STEERING),
  "flux-kontext-pro": kontext,
  "flux-kontext-max": kontext,
  "flux-pro-1.1": endpoint(["prompt"], ONE_MEGAPIXEL, SIDES, IMAGE_PROMPT, UPSAMPLING),
  "flux-pro-1.1-ultra": endpoint(["prompt"], 4 * ONE_MEGAPIXEL, RATIO, IMAGE_PROMPT, ULTRA, UPSAMPLING),
  "flux-pro-1.0-fill": endpoint(["image"], ONE_MEGAPIXEL, FILL, STEERING, UPSAMPLING),
  "flux-pro-1.0-expand": endpoint(["image"], ONE_MEGAPIXEL, EXPAND, STEERING, UPSAMPLING),
  "flux-dev": endpoint(["prompt"], ONE_MEGAPIXEL, SIDES, IMAGE_PROMPT, STEERING, UPSAMPLING),
  standard: endpoint(
    ["prompt"],
    ONE_MEGAPIXEL,
    ...[SIDES, RATIO, INPUTS, IMAGE_PROMPT, FILL, EXPAND, ULTRA, STEERING, UPSAMPLING],
  ),
};

export function fluxModel(name: string): FluxModel | undefined {
  return Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
}
