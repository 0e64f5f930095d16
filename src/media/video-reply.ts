import type { InlineImage, MediaLink } from "./image.ts";

/** A finished job, as a provider answers. */
export interface VideoReply {
  /** Links, or the video itself as base64. */
  videos: readonly (MediaLink | InlineImage)[];
  /** One reason for each video that moderation blocked. */
  filtered: readonly string[];
  /** Where the provider reports it: the length of each video, and what its price depends on. */
  seconds?: number;
  resolution?: string;
  audio?: boolean;
}
