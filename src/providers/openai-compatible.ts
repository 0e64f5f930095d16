// https://platform.openai.com/docs/api-reference/chat

import { bearer } from "./auth.ts";
import { OPENAI_BATCHES } from "./batches/openai.ts";
import { OPENAI_FILES } from "./files/openai.ts";
import { googleDialect } from "./google-dialect.ts";
import { COMPATIBLE_AUDIO } from "./openai/audio-services.ts";
import { openaiCompletions } from "./openai/completions.ts";
import { openaiModerations } from "./openai/moderations.ts";
import type { ProviderDeclaration } from "./provider.ts";
import { COMPATIBLE_SERVICES } from "./service-adapters/compatible-services.ts";

/** Any host that supports chat completions, such as an inference proxy; other dialects if `dialects` lists them. */
export const openaiCompatible: ProviderDeclaration = {
  kind: "openai-compatible",
  tracesCalls: true,
  publishers: [],
  fields: { required: ["base_url"], optional: ["api_key", "dialects", "batch", "files"] },
  baseUrl: () => {
    throw new Error("an openai-compatible provider requires a base_url");
  },
  authenticate: bearer,
  probe: { path: "/models" },
  dialects: {
    chat: { generate: () => "/chat/completions" },
    messages: {
      optional: true,
      generate: () => "/messages",
      countTokens: () => "/messages/count_tokens",
      headers: () => ({ "anthropic-version": "2023-06-01" }),
    },
    genai: { ...googleDialect(() => "/models"), optional: true },
    responses: { optional: true, generate: () => "/responses", origin: "openai-compatible" },
  },
  services: {
    ...COMPATIBLE_SERVICES,
    ...COMPATIBLE_AUDIO,
    moderations: [openaiModerations(() => true)],
    completions: [openaiCompletions(() => true)],
  },
  batches: OPENAI_BATCHES,
  files: [OPENAI_FILES],
  quirks: {
    chat: {
      maxTokensField: "max_tokens",
      reasoningHistory: "keep",
      reasoningDetails: "own",
      // Google's own compatible endpoint puts the signatures of its models' calls here.
      toolSignatureKeys: ["extra_content", "google", "thought_signature"],
      mediaUrls: ["image"],
    },
    responses: { openReasoning: true, toolTypes: ["function"], mediaUrls: ["image"], badKeyIs400: true },
  },
};
