import type { JsonObject } from "../base/json.ts";
import type { VideoDerivation } from "../canon/operation.ts";
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
  /** The size that `aspectRatio` and `resolution` were read from: `1280x720`. */
  size?: string;
  /** The defaults of the client's protocol. A model that does not have them uses its own. */
  defaults?: { aspectRatio: string; seconds: number };
  /** The earlier video that this one is made from. */
  source?: VideoSource;
  /** Fields that no two providers share, as the client wrote them. */
  extras: JsonObject;
  /** The path of each of them in the client's request; the root, if absent. */
  extraPaths?: ReadonlyMap<string, string>;
}

/** A finished video at the provider that made it. */
export interface VideoSource {
  kind: VideoDerivation;
  /** The operation that made it. */
  id: string;
  /** Identifies its job at the provider. */
  job: JsonObject;
  /** A digest of the credential that made it: only that one can use it. */
  credential: string;
  seconds: number;
}

/** The fields of a call that a model may or may not honour. */
export type VideoOption = "negativePrompt" | "enhancePrompt" | "personGeneration" | "seed" | "fps";

/** A call reduced to what one model accepts. What prices depend on is always set. */
export interface FittedVideoCall extends VideoCall {
  seconds: number;
  resolution: string;
  audio: boolean;
}

export interface VideoCapabilities {
  /** The most videos of one job at the provider; more take several jobs of one operation. */
  perJob: number;
  takes: readonly VideoOption[];
  /** The seeds that it accepts; any integer if absent. */
  seeds?: NumberRange;
  /** Its words for people in videos, where `personGeneration` is taken. The last one is the widest. */
  people?: readonly string[];
  /** The default first; empty if the shape cannot be chosen. */
  ratios: readonly string[];
  /** A video with a first frame always has the aspect ratio of that frame. */
  shapedByImage?: true;
  /** The default first. */
  resolutions: readonly string[];
  seconds: readonly number[] | { min: number; max: number };
  defaultSeconds: number;
  /** The only lengths for certain resolutions, or with a last frame. */
  tied?: readonly { resolutions?: readonly string[]; lastFrame?: true; seconds: readonly number[] }[];
  /** `chosen`: as requested, or `defaultAudio`. */
  audio: "never" | "always" | "chosen";
  defaultAudio?: boolean;
  image: boolean;
  lastFrame: boolean;
  /** A first frame is required: the model only animates images. */
  imageOnly?: true;
  /** A prompt is required in addition to an image. */
  promptNeeded?: true;
  /** Frame rates to choose from, where `fps` is taken. */
  fps?: readonly number[];
  maxPrompt?: number;
  /** Sizes in pixels by resolution and aspect ratio, where they are not the usual ones. */
  sizes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What it makes from its earlier videos; with `extend`, the lengths that it adds. */
  derives?: { remix?: true; edit?: true; extend?: readonly number[] };
}
