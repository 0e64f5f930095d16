import type { FreeSizes, ImageCapabilities } from "../../media/image-capabilities.ts";

/** The most images of a batch, and the most input and output images together. */
const MAX_TOGETHER = 15;

const sizes = (minPixels: number, maxPixels: number): FreeSizes => ({
  multipleOf: 16,
  minSide: 240,
  maxSide: 16_384,
  minPixels,
  maxPixels,
  maxRatio: 16,
});

const LARGEST = 4096 * 4096;
const TWO_K = { width: 2048, height: 2048 };
const ONE_K = { width: 1024, height: 1024 };

const BATCHED: Omit<ImageCapabilities, "sizes"> = {
  maxCount: MAX_TOGETHER,
  perCall: MAX_TOGETHER,
  together: MAX_TOGETHER,
  takes: ["watermark"],
  maxInputs: 14,
  mask: false,
  formats: ["image/jpeg"],
  compresses: false,
};

const V4_0: ImageCapabilities = {
  ...BATCHED,
  sizes: { kind: "free", free: sizes(1280 * 720, LARGEST), tiers: ["1K", "2K", "4K"], standard: TWO_K },
};

const V4_5: ImageCapabilities = {
  ...BATCHED,
  sizes: { kind: "free", free: sizes(2560 * 1440, LARGEST), tiers: ["2K", "4K"], standard: TWO_K },
};

const V5_0_LITE: ImageCapabilities = { ...V4_5, formats: ["image/jpeg", "image/png"] };

const V5_0_PRO: ImageCapabilities = {
  ...BATCHED,
  perCall: 1,
  takes: ["watermark", "background"],
  maxInputs: 10,
  formats: ["image/jpeg", "image/png"],
  // The smaller size costs half, so the larger one must be requested explicitly.
  sizes: { kind: "free", free: sizes(921_600, 4_624_220), tiers: ["1K", "2K"], standard: ONE_K },
};

const V3_0: ImageCapabilities = {
  ...BATCHED,
  perCall: 1,
  takes: ["watermark", "seed", "guidanceScale"],
  seeds: { min: -1, max: 2_147_483_647 },
  guidance: { min: 1, max: 10 },
  maxInputs: 0,
  sizes: {
    kind: "free",
    free: { multipleOf: 16, minSide: 512, maxSide: 2048, maxRatio: 4 },
    tiers: ["1K", "2K"],
    standard: ONE_K,
  },
};

const FAMILIES: readonly [RegExp, ImageCapabilities][] = [
  [/seedream-5-0-pro/, V5_0_PRO],
  [/seedream-5-/, V5_0_LITE],
  [/seedream-4-5/, V4_5],
  [/seedream-3-/, V3_0],
];

/** What a Seedream model can do. The name of an account's own endpoint (`ep-…`) does not say which model it has: 4.0 is assumed. */
export function seedream(model: string): ImageCapabilities {
  return FAMILIES.find(([pattern]) => pattern.test(model))?.[1] ?? V4_0;
}

/** Batches and streams go together. */
export const makesBatches = (model: string): boolean => seedream(model).perCall > 1;
