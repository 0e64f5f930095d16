import { googleWire } from "./google.ts";
import type { ProviderDeclaration } from "./provider.ts";

/** The built-in simulator, which plays all three dialects over real HTTP. Its address is known once it has started. */
export const simulator: ProviderDeclaration = {
  kind: "simulator",
  publishers: [],
  fields: { required: ["base_url"], optional: ["api_key"] },
  baseUrl: () => {
    throw new Error("the simulator's address is set when it starts");
  },
  authenticate: (settings) => {
    const key = settings.apiKey?.reveal() ?? "";
    const headers = { "x-api-key": key, "x-goog-api-key": key, authorization: `Bearer ${key}` };
    return () => headers;
  },
  wires: {
    chat: { generate: () => "/openai/v1/chat/completions", quirks: { mediaUrls: ["image"] } },
    messages: {
      generate: () => "/anthropic/v1/messages",
      countTokens: () => "/anthropic/v1/messages/count_tokens",
      headers: ({ betas }) => ({
        "anthropic-version": "2023-06-01",
        ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
      }),
    },
    genai: googleWire(() => "/gemini/v1beta/models"),
  },
  quirks: { forwardBetas: true, labels: false, reasoningHistory: "keep", mediaUrls: ["image", "document"] },
};
