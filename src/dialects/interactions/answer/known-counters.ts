import type { KnownCounters } from "../../answer/unknown-counters.ts";

const MODALITIES = ["text", "image", "audio", "video", "document"];
const INPUTS = ["input", "cached", "tool_use"].map((kind) => `${kind}_tokens_by_modality`);
/** Tokens of a generated video cost more than those of text, and no price list has a price for them. */
const OUTPUT_MODALITIES = MODALITIES.filter((modality) => modality !== "video");

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
    ...INPUTS.flatMap((details) => MODALITIES.map((modality) => `${details}.${modality}.tokens`)),
    ...OUTPUT_MODALITIES.map((modality) => `output_tokens_by_modality.${modality}.tokens`),
  ],
  // The uses of hosted tools, which are counted by name.
  others: ["grounding_tool_count"],
};
