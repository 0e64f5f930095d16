import type { GatewayError } from "../canon/error.ts";
import type { Usage } from "../canon/usage.ts";
import type { InlineImage, MediaLink } from "./image.ts";

/** The result for one of the requested images. */
export type ImageResult<Source = InlineImage> =
  | { kind: "made"; image: Source; revisedPrompt?: string }
  /** Blocked by the provider's moderation. */
  | { kind: "filtered"; reason: string }
  | { kind: "failed"; error: GatewayError };

/** A response with images. */
export interface ImageReply<Source = InlineImage> {
  results: readonly ImageResult<Source>[];
  /** Absent if the provider reports none: each image then counts as one. */
  usage?: Usage;
  /** The settings that the provider reports. */
  settings?: ImageSettings;
}

export interface ImageSettings {
  size?: string;
  quality?: string;
  background?: string;
  outputFormat?: string;
}

/** As a provider answers: some images are links that are still to be fetched. */
export type UpstreamImageReply = ImageReply<InlineImage | MediaLink>;

/** One step of a streamed answer. */
export type ImageEvent =
  | { kind: "partial"; image: InlineImage; index: number; settings?: ImageSettings }
  | { kind: "result"; result: ImageResult<InlineImage | MediaLink>; settings?: ImageSettings; usage?: Usage }
  /** The end of the stream, with the usage of the whole response if it is sent last. */
  | { kind: "end"; usage?: Usage };
