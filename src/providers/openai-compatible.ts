import { bearer } from "./auth.ts";
import { googleWire } from "./google.ts";
import type { ProviderDeclaration } from "./provider.ts";

/** Any host that speaks one or more of the three dialects below one address, such as vLLM or an inference proxy. */
export const openaiCompatible: ProviderDeclaration = {
  kind: "openai-compatible",
  publishers: [],
  fields: { required: ["base_url"], optional: ["api_key", "dialects"] },
  baseUrl: () => {
    throw new Error("an openai-compatible provider has no address of its own");
  },
  authenticate: bearer,
  wires: {
    chat: { generate: () => "/chat/completions" },
    messages: {
      generate: () => "/messages",
      countTokens: () => "/messages/count_tokens",
      headers: () => ({ "anthropic-version": "2023-06-01" }),
    },
    genai: googleWire(() => "/models"),
  },
  quirks: { maxTokensField: "max_tokens", reasoningHistory: "keep" },
};
