import type { InlineImage, MediaLink } from "./image.ts";

/** A finished job, as a provider gives it. */
export interface VideoReply {
  /** Links, or the video itself as base64. */
  videos: readonly (MediaLink | InlineImage)[];
  /** One reason for each video that moderation held back. */
  filtered: readonly string[];
  /** Where the provider tells: how long each video is, and what it is priced by. */
  seconds?: number;
  resolution?: string;
  audio?: boolean;
}
