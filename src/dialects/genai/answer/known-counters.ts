import type { KnownCounters } from "../../answer/unknown-counters.ts";

const MODALITIES = ["TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT", "MODALITY_UNSPECIFIED"];

const INPUTS = ["promptTokensDetails", "cacheTokensDetails", "toolUsePromptTokensDetails"];
/** Of a response, and of one in a live session. */
const OUTPUTS = ["candidatesTokensDetails", "responseTokensDetails"];
/** Tokens of a generated video cost more than those of text, and no price list has a price for them. */
const OUTPUT_MODALITIES = MODALITIES.filter((modality) => modality !== "VIDEO");

/** Every number in `usageMetadata` that the decoder counts or that is known to add nothing to a bill. */
export const KNOWN_COUNTERS: KnownCounters = {
  counts: [
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "responseTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "totalTokenCount",
    ...INPUTS.flatMap((details) => MODALITIES.map((modality) => `${details}.${modality}.tokenCount`)),
    ...OUTPUTS.flatMap((details) => OUTPUT_MODALITIES.map((modality) => `${details}.${modality}.tokenCount`)),
    // Part of the prompt count: its value before the host continued its own response.
    "initialPromptTokenCount",
  ],
  others: [
    // Characters, by which the host's older models were billed.
    "billablePromptUsage",
  ],
};
