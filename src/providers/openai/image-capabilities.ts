import type { PixelSize } from "../../media/image.ts";
import type { FreeSizes, ImageCapabilities } from "../../media/image-capabilities.ts";

const size = (width: number, height: number): PixelSize => ({ width, height });

/** The sizes that the newest family takes; the largest area is that of 3840x2160. */
const FREE: FreeSizes = { multipleOf: 16, minSide: 16, maxSide: 3840, maxPixels: 3840 * 2160, maxRatio: 3 };
const PRESETS = [size(1024, 1024), size(1536, 1024), size(1024, 1536)];

const QUALITIES = ["auto", "low", "medium", "high"];

const GPT_IMAGE: ImageCapabilities = {
  maxCount: 10,
  perCall: 10,
  takes: ["quality", "background", "moderation", "inputFidelity"],
  qualities: QUALITIES,
  // Edits do not have this field.
  onlyWithoutInputs: ["moderation"],
  onlyWithInputs: ["inputFidelity"],
  sizes: { kind: "presets", sizes: PRESETS, auto: true },
  maxInputs: 16,
  mask: true,
  formats: ["image/png", "image/jpeg", "image/webp"],
  compresses: true,
  maxPrompt: 32_000,
  partialImages: true,
};

const GPT_IMAGE_2: ImageCapabilities = {
  ...GPT_IMAGE,
  takes: ["quality", "background", "moderation"],
  sizes: { kind: "presets", sizes: PRESETS, auto: true, free: FREE },
};

const DALL_E: ImageCapabilities = {
  maxCount: 10,
  perCall: 10,
  takes: [],
  sizes: { kind: "presets", sizes: [size(1024, 1024), size(512, 512), size(256, 256)] },
  maxInputs: 1,
  mask: true,
  formats: ["image/png"],
  compresses: false,
  maxPrompt: 1000,
};

/** By the prefix of a model's name; the first match counts. */
const FAMILIES: readonly (readonly [string, ImageCapabilities])[] = [
  ["gpt-image-2.", { ...GPT_IMAGE_2, qualities: [...QUALITIES, "xhigh", "max"] }],
  ["gpt-image-2", GPT_IMAGE_2],
  ["gpt-image-1-mini", { ...GPT_IMAGE, takes: ["quality", "background", "moderation"] }],
  [
    "dall-e-3",
    {
      ...DALL_E,
      perCall: 1,
      takes: ["quality"],
      qualities: ["standard", "hd"],
      sizes: { kind: "presets", sizes: [size(1024, 1024), size(1792, 1024), size(1024, 1792)] },
      maxInputs: 0,
      mask: false,
      maxPrompt: 4000,
    },
  ],
  ["dall-e", DALL_E],
];

export function imageCapabilities(model: string): ImageCapabilities {
  return FAMILIES.find(([beginning]) => model.startsWith(beginning))?.[1] ?? GPT_IMAGE;
}
