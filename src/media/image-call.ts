import type { JsonObject } from "../base/json.ts";
import type { ImageTier, InlineImage, PixelSize } from "./image.ts";

/** A request for images in canonical form (contract 2.4, 2.14 and the images endpoints of part 4). */
export interface ImageCall {
  prompt: string;
  /** How many images. */
  count: number;
  negativePrompt?: string;
  /** Width to height, such as `16:9`. */
  aspectRatio?: string;
  tier?: ImageTier;
  /** An exact size, or `auto` if the model chooses. */
  size?: PixelSize | "auto";
  quality?: string;
  seed?: number;
  guidanceScale?: number;
  enhancePrompt?: boolean;
  watermark?: boolean;
  /** Lower case: `dont_allow`, `allow_adult`, `allow_all`. */
  personGeneration?: string;
  /** Lower case, such as `block_only_high`. */
  safetySetting?: string;
  includeRaiReason?: boolean;
  /** `image/png`, `image/jpeg` or `image/webp`. */
  outputMimeType?: string;
  /** 0..100 */
  compression?: number;
  /** `transparent`, `opaque` or `auto`. */
  background?: string;
  moderation?: string;
  inputFidelity?: string;
  /** Input images; the first is the one to edit. */
  inputs: readonly InlineImage[];
  /** The transparent part marks the area of the first input to edit. */
  mask?: InlineImage;
  /** A kind of edit that only some models know, such as `EDIT_MODE_OUTPAINT`. */
  editMode?: string;
  /** Fields that no two providers share, as the client wrote them. */
  extras: JsonObject;
  /** The path of each of them in the client's request; the root, if absent. */
  extraPaths?: ReadonlyMap<string, string>;
}

/** The fields of a call that a model may or may not honour. */
export type ImageOption =
  | "negativePrompt"
  | "quality"
  | "seed"
  | "guidanceScale"
  | "enhancePrompt"
  | "watermark"
  | "personGeneration"
  | "safetySetting"
  | "includeRaiReason"
  | "background"
  | "moderation"
  | "inputFidelity"
  | "editMode";

/** A call reduced to what one model accepts: only options that it honours are left, and its size is settled. */
export interface FittedImageCall extends ImageCall {
  /** The settled size, for models that take pixels. */
  pixels?: PixelSize;
}
