import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** What differs between hosts of the Interactions protocol. */
export type InteractionsQuirks = MediaQuirks;

export const DEFAULT_INTERACTIONS_QUIRKS: InteractionsQuirks = DEFAULT_MEDIA_QUIRKS;
