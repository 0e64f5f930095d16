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

/** How the size of a model's images is set. */
export type SizeRule =
  /** One of several sizes; with `free`, also any other within bounds. `auto`: the model may choose. */
  | { kind: "presets"; sizes: readonly PixelSize[]; auto?: true; free?: FreeSizes }
  /** Pixels within bounds. */
  | { kind: "free"; free: FreeSizes; tiers: readonly ImageTier[]; standard: PixelSize }
  /** By aspect ratio, and by tier if there are several. */
  | { kind: "ratio"; ratios: readonly string[]; tiers: readonly ImageTier[] }
  /** Not at all. */
  | { kind: "none" };

/** What a model can do, as far as a request depends on it. */
export interface ImageCapabilities {
  /** The most images of one call of a client. */
  maxCount: number;
  /** The most images of one call to the provider; more take several concurrent calls. */
  perCall: number;
  /** The most input and output images of one request to the provider, if they are counted together. */
  together?: number;
  takes: readonly ImageOption[];
  /** Those of `takes` that need an input image, or exclude one. */
  onlyWithInputs?: readonly ImageOption[];
  onlyWithoutInputs?: readonly ImageOption[];
  /** The seeds that it accepts; any integer if absent. */
  seeds?: NumberRange;
  /** It accepts no seed together with a watermark. */
  seedExcludesWatermark?: true;
  guidance?: NumberRange;
  /** Its words for quality, where `quality` is taken. */
  qualities?: readonly string[];
  sizes: SizeRule;
  /** The sizes of calls with an input image, if they differ. */
  sizesWithInputs?: SizeRule;
  maxInputs: number;
  /** An input image is required: the model only edits. */
  imageOnly?: true;
  mask: boolean;
  /** How its masks mark the area to edit: transparent, as clients send them, or white on black. `alpha` if absent. */
  maskForm?: "alpha" | "white";
  /** The output types that it supports, its default first. The gateway converts to others. */
  formats: readonly string[];
  /** It accepts a compression level; otherwise the gateway compresses. */
  compresses: boolean;
  /** The most characters of a prompt, where known. */
  maxPrompt?: number;
  /** It can stream partial images. */
  partialImages?: true;
}
