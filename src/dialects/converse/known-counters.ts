import type { KnownCounters } from "../answer/unknown-counters.ts";

/** Every number in `usage` that this dialect's reader counts, or that is known not to affect the bill. */
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
