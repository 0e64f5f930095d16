import type { MediaKind } from "../../canon/part.ts";

/** What differs between hosts of every dialect. */
export interface MediaQuirks {
  /** The kinds of media that the host takes as they are sent to it. */
  media: readonly MediaKind[];
  /** The kinds of media that the host fetches by itself from any URL; others are fetched by the gateway (S12). */
  mediaUrls: readonly MediaKind[];
  /** URLs that the host takes although it fetches no others, such as those of its own files. */
  ownUrls: RegExp | undefined;
}

export const DEFAULT_MEDIA_QUIRKS: MediaQuirks = {
  media: ["image", "document", "audio", "video"],
  mediaUrls: ["image", "document"],
  ownUrls: undefined,
};
