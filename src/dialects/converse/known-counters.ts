import type { KnownCounters } from "../answer/unknown-counters.ts";

/** Every number in `usage` that the reader of this dialect counts, or that is known to add nothing to a bill. */
export const KNOWN_COUNTERS: KnownCounters = {
  counts: [
    "inputTokens",
    "outputTokens",
    "totalTokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
    "cacheDetails.inputTokens",
    // The same two counts under their older names.
    "cacheReadInputTokenCount",
    "cacheWriteInputTokenCount",
  ],
};
