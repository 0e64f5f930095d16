// https://platform.claude.com/docs/en/api/messages

import type { MessagesOptions } from "../dialects/messages/options.ts";
import { headerKey } from "./auth.ts";
import type { ProviderDeclaration, UpstreamCall } from "./provider.ts";

export const betaHeader = (options: MessagesOptions | undefined): Record<string, string> =>
  options === undefined ? {} : { "anthropic-beta": options.betas.join(",") };

export const anthropic: ProviderDeclaration = {
  kind: "anthropic",
  publishers: ["anthropic"],
  variables: { api_key: "ANTHROPIC_API_KEY" },
  fields: { required: ["api_key"], optional: [] },
  baseUrl: () => "https://api.anthropic.com",
  authenticate: headerKey("x-api-key"),
  probe: { path: "/v1/models?limit=1", headers: { "anthropic-version": "2023-06-01" } },
  dialects: {
    messages: {
      generate: () => "/v1/messages",
      countTokens: () => "/v1/messages/count_tokens",
      headers: ({ options }: UpstreamCall<MessagesOptions>) => ({
        "anthropic-version": "2023-06-01",
        ...betaHeader(options),
      }),
    },
  },
  quirks: { messages: { forwardBetas: true, systemMessages: true } },
};
