// https://platform.openai.com/docs/api-reference/responses
// https://platform.openai.com/docs/api-reference/chat

import type { ToolIdRule } from "../canon/tool-id.ts";
import { bearer } from "./auth.ts";
import { OPENAI_BATCHES } from "./batches/openai.ts";
import { OPENAI_BILLING } from "./billing/openai.ts";
import { REALTIME_HOST } from "./live-host.ts";
import { OPENAI_AUDIO } from "./openai/audio-services.ts";
import { openaiCompactions } from "./openai/compactions.ts";
import { openaiCompletions } from "./openai/completions.ts";
import { openaiEmbeddings } from "./openai/embeddings.ts";
import { openaiImages } from "./openai/images.ts";
import { openaiModerations } from "./openai/moderations.ts";
import { openaiVideos } from "./openai/videos.ts";
import type { ProviderDeclaration } from "./provider.ts";

/** The host answers longer ids, which clients of another protocol may send, with 400. */
export const FORTY_CHARACTERS: ToolIdRule = { pattern: /^[\s\S]{1,40}$/, make: (seed) => `call_${seed}` };

export const openai: ProviderDeclaration = {
  kind: "openai",
  billing: OPENAI_BILLING,
  publishers: ["openai"],
  variables: { api_key: "OPENAI_API_KEY" },
  fields: { required: ["api_key"], optional: ["organization", "project", "dialects", "batch"] },
  baseUrl: () => "https://api.openai.com/v1",
  authenticate: (settings) => {
    const headers = {
      ...bearer(settings)(),
      ...(settings.organization ? { "openai-organization": settings.organization } : {}),
      ...(settings.project ? { "openai-project": settings.project } : {}),
    };
    return () => headers;
  },
  probe: { path: "/models" },
  dialects: {
    chat: { generate: () => "/chat/completions" },
    responses: {
      // What stands in for the vendor at another address often speaks chat alone.
      optional: true,
      generate: () => "/responses",
      countTokens: () => "/responses/input_tokens",
    },
  },
  live: { realtime: REALTIME_HOST },
  batches: OPENAI_BATCHES,
  quirks: {
    chat: {
      media: ["image", "document", "audio"],
      mediaUrls: ["image"],
      toolId: FORTY_CHARACTERS,
      cacheBreakpoints: true,
      accountFields: true,
    },
    responses: { clientMetadata: true, cacheBreakpoints: true, compaction: true },
  },
  media: { images: [openaiImages], videos: [openaiVideos] },
  services: {
    embeddings: [openaiEmbeddings],
    ...OPENAI_AUDIO,
    moderations: [openaiModerations((model) => model.includes("moderation"))],
    compactions: [openaiCompactions],
    completions: [openaiCompletions((model) => /instruct|davinci|babbage/.test(model))],
  },
};
