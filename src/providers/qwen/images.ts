// https://www.alibabacloud.com/help/en/model-studio/qwen-image-api

import { objectAt } from "../../base/json.ts";
import type { ImageAdapter } from "../../media/adapter.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { readError } from "./errors.ts";
import { messagesBody, readChoices, readUsage, SEEDS } from "./image-messages.ts";
import { refusalIn } from "./tasks.ts";

const STANDARD = { width: 1024, height: 1024 };

const V2: ImageCapabilities = {
  maxCount: 6,
  perCall: 6,
  takes: ["negativePrompt", "seed", "watermark", "enhancePrompt"],
  seeds: SEEDS,
  sizes: {
    kind: "free",
    free: {
      multipleOf: 16,
      minSide: 192,
      maxSide: 5792,
      minPixels: 512 * 512,
      maxPixels: 2048 * 2048,
      maxRatio: 8,
    },
    tiers: ["1K", "2K"],
    standard: STANDARD,
  },
  maxInputs: 3,
  mask: false,
  formats: ["image/png"],
  compresses: false,
};

const V1: ImageCapabilities = {
  ...V2,
  perCall: 1,
  maxInputs: 0,
  sizes: {
    kind: "presets",
    sizes: [
      { width: 1328, height: 1328 },
      { width: 1664, height: 928 },
      { width: 1472, height: 1104 },
      { width: 1104, height: 1472 },
      { width: 928, height: 1664 },
    ],
  },
};

const EDIT_PLUS: ImageCapabilities = {
  ...V2,
  imageOnly: true,
  sizes: {
    kind: "free",
    free: { multipleOf: 16, minSide: 512, maxSide: 2048, maxRatio: 4 },
    tiers: ["1K", "2K"],
    standard: STANDARD,
  },
};

const EDIT: ImageCapabilities = { ...V2, perCall: 1, imageOnly: true, sizes: { kind: "none" } };

const Z_IMAGE: ImageCapabilities = { ...V2, perCall: 1, takes: [], sizes: { kind: "none" }, maxInputs: 0 };

const FAMILIES: readonly [RegExp, ImageCapabilities][] = [
  [/^z-image/, Z_IMAGE],
  [/^qwen-image-edit-(max|plus)/, EDIT_PLUS],
  [/^qwen-image-edit/, EDIT],
  [/^qwen-image-\d/, V2],
];

/** Qwen-Image, which answers with the images themselves. */
export const images: ImageAdapter = {
  serves: (model) => /^(qwen|z)-image/.test(model),
  capabilities: (model) => FAMILIES.find(([pattern]) => pattern.test(model))?.[1] ?? V1,
  submit: (call, context) => ({
    method: "POST",
    url: "/services/aigc/multimodal-generation/generation",
    body: { json: messagesBody(call, context) },
  }),
  readSubmit: ({ body }) => {
    const results = readChoices(objectAt(body, "output"));
    if (body === undefined || results.length === 0) throw refusalIn(body) ?? emptyAnswer("an image");
    const usage = readUsage(body);
    return { state: "done", reply: { results, ...(usage && { usage }) } };
  },
  error: readError,
};
