import type { JsonObject } from "../base/json.ts";
import type { InlineImage } from "./image.ts";
import type { NumberRange } from "./number-range.ts";

/** A request for videos in canonical form (contract 2.1). */
export interface VideoCall {
  prompt?: string;
  /** The first frame. */
  image?: InlineImage;
  lastFrame?: InlineImage;
  count: number;
  aspectRatio?: string;
  /** Lower case: `480p`, `720p`, `1080p`, `4k`. */
  resolution?: string;
  seconds?: number;
  audio?: boolean;
  negativePrompt?: string;
  enhancePrompt?: boolean;
  /** Lower case. */
  personGeneration?: string;
  seed?: number;
  fps?: number;
  /** Fields that no two providers share, as the client wrote them. */
  extras: JsonObject;
  /** Where each of them stands in the client's request; at its root, where absent. */
  extraPaths?: ReadonlyMap<string, string>;
}

/** The fields of a call that a model may or may not honour. */
export type VideoOption = "negativePrompt" | "enhancePrompt" | "personGeneration" | "seed" | "fps";

/** A call cut to what one model takes. What prices depend on is always there. */
export interface FittedVideoCall extends VideoCall {
  seconds: number;
  resolution: string;
  audio: boolean;
}

export interface VideoCapabilities {
  /** Most videos of one job of the provider's; more are asked for by several jobs under one operation. */
  perJob: number;
  takes: readonly VideoOption[];
  /** The seeds that it takes; any whole number where absent. */
  seeds?: NumberRange;
  /** Its words for people in videos, where `personGeneration` is taken. The last one is the widest. */
  people?: readonly string[];
  /** The usual one first; empty where the shape cannot be chosen. */
  ratios: readonly string[];
  /** A video that begins with an image has the image's shape, whatever was asked for. */
  shapedByImage?: true;
  /** The usual one first. */
  resolutions: readonly string[];
  seconds: readonly number[] | { min: number; max: number };
  usualSeconds: number;
  /** Lengths that certain resolutions, or a last frame, are tied to. */
  tied?: readonly { resolutions?: readonly string[]; lastFrame?: true; seconds: readonly number[] }[];
  /** `chosen`: as the client asks, and by default `usualAudio`. */
  audio: "never" | "always" | "chosen";
  usualAudio?: boolean;
  image: boolean;
  lastFrame: boolean;
  /** An image is needed: the model animates and does not invent. */
  imageOnly?: true;
  /** A prompt is needed beside an image as well. */
  promptNeeded?: true;
  /** Frame rates to choose from, where `fps` is taken. */
  fps?: readonly number[];
  maxPrompt?: number;
}
