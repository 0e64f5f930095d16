import type { KnownCounters } from "../../answer/unknown-counters.ts";

const MODALITIES = ["text", "image", "audio", "video", "document"];
const DETAILS = ["input", "cached", "output", "tool_use"].map((kind) => `${kind}_tokens_by_modality`);

/** Every number in `usage` that the decoder counts or that is known to add nothing to a bill. */
export const KNOWN_COUNTERS: KnownCounters = {
  counts: [
    "total_input_tokens",
    "total_cached_tokens",
    "total_output_tokens",
    "total_thought_tokens",
    "total_tool_use_tokens",
    "total_tokens",
    // Part of the input: its value before the host continued its own response.
    "initial_input_tokens",
    ...DETAILS.flatMap((details) => MODALITIES.map((modality) => `${details}.${modality}.tokens`)),
  ],
  // The uses of hosted tools, which are counted by name.
  others: ["grounding_tool_count"],
};
