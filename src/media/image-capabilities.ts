import type { ImageTier, PixelSize } from "./image.ts";
import type { ImageOption } from "./image-call.ts";
import type { NumberRange } from "./number-range.ts";

/** Any size within bounds. */
export interface FreeSizes {
  /** Width and height are multiples of it. */
  multipleOf: number;
  minSide: number;
  maxSide: number;
  minPixels?: number;
  maxPixels?: number;
  /** The longer side to the shorter one. */
  maxRatio: number;
}

/** How a model is told the size of its images. */
export type SizeRule =
  /** One of a few; `free` beside them where any other size within bounds is good too. `auto`: the model may choose. */
  | { kind: "presets"; sizes: readonly PixelSize[]; auto?: true; free?: FreeSizes }
  /** Pixels within bounds. */
  | { kind: "free"; free: FreeSizes; tiers: readonly ImageTier[]; standard: PixelSize }
  /** By shape, and by level where there are several. */
  | { kind: "ratio"; ratios: readonly string[]; tiers: readonly ImageTier[] }
  /** Not at all. */
  | { kind: "none" };

/** What a model can do, as far as a request depends on it. */
export interface ImageCapabilities {
  /** Most images of one call of a client's. */
  maxCount: number;
  /** Most images of one call to the provider; more are asked for by several calls at once. */
  perCall: number;
  /** Most images going in and coming out of one call to the provider, where they are counted together. */
  together?: number;
  takes: readonly ImageOption[];
  /** Those of `takes` that it has only beside an image, or only without one. */
  onlyWithInputs?: readonly ImageOption[];
  onlyWithoutInputs?: readonly ImageOption[];
  /** The seeds that it takes; any whole number where absent. */
  seeds?: NumberRange;
  /** It takes no seed for images that are to have a watermark. */
  seedExcludesWatermark?: true;
  guidance?: NumberRange;
  /** Its words for quality, where `quality` is taken. */
  qualities?: readonly string[];
  sizes: SizeRule;
  /** The sizes beside an image, where they are others. */
  sizesWithInputs?: SizeRule;
  maxInputs: number;
  /** An image is needed: the model edits and does not invent. */
  imageOnly?: true;
  mask: boolean;
  /** How its masks mark what is to be changed: by transparency, as clients do, or in white on black. `alpha` where absent. */
  maskForm?: "alpha" | "white";
  /** The types that it gives when asked, its usual one first. Others are made by converting. */
  formats: readonly string[];
  /** It takes a level of compression; elsewhere the gateway compresses. */
  compresses: boolean;
  /** Most characters of a prompt, where that is known. */
  maxPrompt?: number;
  /** It can show an image while it is being made. */
  partialImages?: true;
}
