import type { GatewayError } from "../canon/error.ts";
import type { Usage } from "../canon/usage.ts";
import type { MediaLink, Picture } from "./picture.ts";

/** What became of one of the pictures that were asked for. */
export type ImageResult<Source = Picture> =
  | { kind: "made"; picture: Source; revisedPrompt?: string }
  /** Held back by the provider's moderation. */
  | { kind: "filtered"; reason: string }
  | { kind: "failed"; error: GatewayError };

/** An answer with pictures in it. */
export interface ImageReply<Source = Picture> {
  results: readonly ImageResult<Source>[];
  /** Absent where the provider says nothing: each picture made then counts as one. */
  usage?: Usage;
  /** The settings that the provider says it used. */
  settings?: ImageSettings;
}

export interface ImageSettings {
  size?: string;
  quality?: string;
  background?: string;
  outputFormat?: string;
}

/** As a provider gives it: some pictures are still at an address. */
export type UpstreamImageReply = ImageReply<Picture | MediaLink>;

/** One step of a streamed answer. */
export type ImageEvent =
  | { kind: "partial"; picture: Picture; index: number; settings?: ImageSettings }
  | { kind: "result"; result: ImageResult<Picture | MediaLink>; settings?: ImageSettings; usage?: Usage }
  /** The provider's last word; usage of the whole answer, where it comes so late. */
  | { kind: "end"; usage?: Usage };
