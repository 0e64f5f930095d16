import type { KnownCounters } from "../../answer/unknown-counters.ts";

const MODALITIES = ["TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT", "MODALITY_UNSPECIFIED"];

const DETAILS = [
  "promptTokensDetails",
  "cacheTokensDetails",
  "candidatesTokensDetails",
  "toolUsePromptTokensDetails",
  // The same of a live session.
  "responseTokensDetails",
];

/** Every number in `usageMetadata` that the reader of this dialect counts, or that is known to add nothing to a bill. */
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
    // A part of the prompt: what it was before the host continued its own answer.
    "initialPromptTokenCount",
  ],
  others: [
    // Characters, by which the host's older models were billed.
    "billablePromptUsage",
  ],
};
