// https://platform.claude.com/docs/en/api/messages

import type { MessagesOptions } from "../dialects/messages/options.ts";
import { VERSION_2026 } from "../dialects/messages/version-2026.ts";
import { headerKey } from "./auth.ts";
import { ANTHROPIC_BATCHES } from "./batches/anthropic.ts";
import { ANTHROPIC_BILLING } from "./billing/anthropic.ts";
import { ANTHROPIC_FILES } from "./files/anthropic.ts";
import type { ProviderDeclaration, UpstreamCall } from "./provider.ts";

export const betaHeader = (options: MessagesOptions | undefined): Record<string, string> =>
  options === undefined || options.betas.length === 0 ? {} : { "anthropic-beta": options.betas.join(",") };

/** The client's own version and betas, or the version that everything here was written for. */
export const messagesHeaders = ({ options }: UpstreamCall<MessagesOptions>): Record<string, string> => ({
  "anthropic-version": options?.version ?? "2023-06-01",
  ...betaHeader(options),
});

export const anthropic: ProviderDeclaration = {
  kind: "anthropic",
  billing: ANTHROPIC_BILLING,
  publishers: ["anthropic"],
  publicOwner: "anthropic",
  variables: { api_key: "ANTHROPIC_API_KEY" },
  fields: { required: ["api_key"], optional: ["batch", "files"] },
  baseUrl: () => "https://api.anthropic.com",
  authenticate: headerKey("x-api-key"),
  probe: { path: "/v1/models?limit=1", headers: { "anthropic-version": "2023-06-01" } },
  dialects: {
    messages: {
      generate: () => "/v1/messages",
      countTokens: () => "/v1/messages/count_tokens",
      headers: messagesHeaders,
    },
  },
  batches: ANTHROPIC_BATCHES,
  files: [ANTHROPIC_FILES],
  maxRequestBytes: 32 * 1024 * 1024,
  quirks: {
    messages: {
      forwardBetas: true,
      fallbackBlocks: true,
      mcpServers: true,
      compaction: true,
      versions: [VERSION_2026],
      systemMessages: true,
    },
  },
};
