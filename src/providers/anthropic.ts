// https://platform.claude.com/docs/en/api/messages

import { headerKey } from "./auth.ts";
import type { ProviderDeclaration } from "./provider.ts";

export const anthropic: ProviderDeclaration = {
  kind: "anthropic",
  publishers: ["anthropic"],
  variables: { api_key: "ANTHROPIC_API_KEY" },
  fields: { required: ["api_key"], optional: [] },
  baseUrl: () => "https://api.anthropic.com",
  authenticate: headerKey("x-api-key"),
  probe: { path: "/v1/models?limit=1", headers: { "anthropic-version": "2023-06-01" } },
  wires: {
    messages: {
      generate: () => "/v1/messages",
      countTokens: () => "/v1/messages/count_tokens",
      headers: ({ betas }) => ({
        "anthropic-version": "2023-06-01",
        ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
      }),
    },
  },
  quirks: { messages: { forwardBetas: true, systemMessages: true } },
};
