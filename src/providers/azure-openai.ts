// https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference

import type { ProviderSettings } from "../config/config.ts";
import { headerKey } from "./auth.ts";
import { OPENAI_BATCHES } from "./batches/openai.ts";
import { AZURE_BILLING } from "./billing/openai.ts";
import { REALTIME_HOST } from "./live-host.ts";
import { COMPATIBLE_AUDIO } from "./openai/audio-services.ts";
import { openaiCompletions } from "./openai/completions.ts";
import { openaiEmbeddings } from "./openai/embeddings.ts";
import { openaiImages } from "./openai/images.ts";
import { FORTY_CHARACTERS } from "./openai.ts";
import type { ProviderDeclaration, UpstreamCall } from "./provider.ts";

const V1 = "/openai/v1";

/** With an `api_version` the classic form, a URL for each deployment; without one the form with the model in the body. */
function completions({ model }: UpstreamCall, { apiVersion, baseUrl }: ProviderSettings): string {
  if (apiVersion !== undefined) {
    const query = new URLSearchParams({ "api-version": apiVersion });
    return `/openai/deployments/${encodeURIComponent(model)}/chat/completions?${query}`;
  }
  // The vendor's SDKs take the base URL with this ending, its portal shows it without.
  return `${baseUrl?.endsWith(V1) ? "" : V1}/chat/completions`;
}

/** R32: the model stands in the body in both forms. */
function responses(_call: UpstreamCall, { apiVersion, baseUrl }: ProviderSettings): string {
  if (apiVersion !== undefined) return `/openai/responses?${new URLSearchParams({ "api-version": apiVersion })}`;
  return `${baseUrl?.endsWith(V1) ? "" : V1}/responses`;
}

/** The generally available form. It has no version in the query, and takes the deployment as the model. */
const realtime = (model: string, settings: ProviderSettings): string =>
  `${settings.baseUrl?.endsWith(V1) ? "" : V1}${REALTIME_HOST.path(model, settings)}`;

const versioned = (baseUrl: string): string => (baseUrl.endsWith(V1) ? baseUrl : baseUrl + V1);

/** Azure OpenAI: a resource of the operator, whose deployments are the models. */
export const azureOpenai: ProviderDeclaration = {
  kind: "azure-openai",
  billing: AZURE_BILLING,
  systemName: "azure.ai.openai",
  publishers: [],
  variables: { api_key: "AZURE_OPENAI_API_KEY", base_url: "AZURE_OPENAI_ENDPOINT" },
  fields: { required: ["base_url", "api_key"], optional: ["api_version", "dialects", "batch"] },
  baseUrl: () => {
    throw new Error("base_url is required: the URL of the resource, such as https://my-resource.openai.azure.com");
  },
  authenticate: headerKey("api-key"),
  probe: { path: ({ baseUrl }) => `${baseUrl?.endsWith(V1) ? "" : V1}/models` },
  // What it has sealed, the vendor of the models cannot open.
  dialects: {
    chat: { generate: completions },
    responses: { optional: true, generate: responses, origin: "azure-openai" },
  },
  live: { realtime: { path: realtime } },
  batches: { ...OPENAI_BATCHES, base: versioned },
  quirks: {
    chat: {
      media: ["image", "document", "audio"],
      mediaUrls: ["image"],
      toolId: FORTY_CHARACTERS,
      cacheBreakpoints: true,
      accountFields: true,
    },
    responses: { cacheBreakpoints: true },
  },
  // With or without an `api_version`, these use the form with the model in the body.
  media: { base: versioned, images: [openaiImages] },
  services: {
    base: versioned,
    embeddings: [openaiEmbeddings],
    ...COMPATIBLE_AUDIO,
    completions: [openaiCompletions(() => true)],
  },
};
