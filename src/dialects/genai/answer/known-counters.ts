import type { KnownCounters } from "../../answer/unknown-counters.ts";

const MODALITIES = ["TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT", "MODALITY_UNSPECIFIED"];

const DETAILS = [
  "promptTokensDetails",
  "cacheTokensDetails",
  "candidatesTokensDetails",
  "toolUsePromptTokensDetails",
  // The same in a live session.
  "responseTokensDetails",
];

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
    ...DETAILS.flatMap((details) => MODALITIES.map((modality) => `${details}.${modality}.tokenCount`)),
    // Part of the prompt count: its value before the host continued its own response.
    "initialPromptTokenCount",
  ],
  others: [
    // Characters, by which the host's older models were billed.
    "billablePromptUsage",
  ],
};
