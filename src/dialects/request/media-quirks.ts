import type { MediaKind } from "../../canon/part.ts";

/** What differs between hosts of every dialect. */
export interface MediaQuirks {
  /** The kinds of media that the host accepts inline. */
  media: readonly MediaKind[];
  /** The kinds of media that the host fetches from any URL. The gateway fetches others (S12). */
  mediaUrls: readonly MediaKind[];
  /** URLs that the host accepts although it fetches no others, such as those of its own files. */
  ownUrls: RegExp | undefined;
}

export const DEFAULT_MEDIA_QUIRKS: MediaQuirks = {
  media: ["image", "document", "audio", "video"],
  mediaUrls: ["image", "document"],
  ownUrls: undefined,
};
