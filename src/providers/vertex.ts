// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference

import type { ProviderSettings } from "../config/config.ts";
import type { MessagesOptions } from "../dialects/messages/options.ts";
import { betaHeader } from "./anthropic.ts";
import { headerKey } from "./auth.ts";
import { VERTEX_BILLING } from "./billing/google.ts";
import { googleAdapters } from "./google/adapters.ts";
import { googleCaches } from "./google/caches.ts";
import { vertexEmbeddings } from "./google/embeddings.ts";
import type { GoogleHost } from "./google/host.ts";
import { googleSpeech } from "./google/speech.ts";
import { googleDialect } from "./google-dialect.ts";
import type { ProviderDeclaration, UpstreamCall } from "./provider.ts";
import { serviceAccount } from "./service-account.ts";

/** Regional hosts carry the region in their name; `eu` and `us` are multi-regions with a scheme of their own. */
function host(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "eu" || location === "us") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

/** With a project the full resource name; with an API key alone the express form. */
const scope = ({ project, location }: Pick<ProviderSettings, "project" | "location">): string =>
  project ? `projects/${project}/locations/${location ?? "global"}/` : "";

const models = (settings: Pick<ProviderSettings, "project" | "location">, publisher: string): string =>
  `/v1/${scope(settings)}publishers/${publisher}/models`;

const isClaude = (model: string): boolean => model.startsWith("claude");

const HOST: GoogleHost = { name: "vertex", models: (settings) => models(settings, "google") };

export const vertex: ProviderDeclaration = {
  kind: "vertex",
  billing: VERTEX_BILLING,
  systemName: "gcp.vertex_ai",
  publishers: ["google"],
  fields: { required: [], optional: ["project", "location", "credentials", "api_key"] },
  baseUrl: ({ location }) => host(location ?? "global"),
  authenticate: (settings, { clock }) => {
    if (settings.credentials) return serviceAccount(settings.credentials, clock);
    if (settings.apiKey) return headerKey("x-goog-api-key")(settings);
    throw new Error("either credentials (a service account file) or api_key is required");
  },
  live: {
    live: {
      path: () => "/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent",
      model: (model, settings) => `${scope(settings)}publishers/google/models/${model}`,
    },
  },
  media: googleAdapters(HOST),
  services: {
    embeddings: vertexEmbeddings(HOST),
    speech: [googleSpeech(HOST)],
    caches: [
      googleCaches({
        root: "/v1/",
        collection: (settings) => `/v1/${scope(settings)}cachedContents`,
        model: (name, settings) => `${scope(settings)}publishers/google/models/${name}`,
        serves: (model) => !isClaude(model),
      }),
    ],
  },
  dialects: {
    genai: {
      ...googleDialect((settings) => models(settings, "google")),
      serves: (model) => !isClaude(model),
    },
    messages: {
      serves: isClaude,
      generate: ({ model, stream }, settings) =>
        `${models(settings, "anthropic")}/${encodeURIComponent(model)}:${stream ? "streamRawPredict" : "rawPredict"}`,
      headers: ({ options }: UpstreamCall<MessagesOptions>) => betaHeader(options),
      body: { remove: ["model"], set: () => ({ anthropic_version: "vertex-2023-10-16" }) },
    },
    // A preview, which exists only below a project: in express mode the host answers 404.
    interactions: {
      byName: true,
      serves: (model, { project }) => project !== undefined && !isClaude(model),
      generate: (_call, { project = "", location = "global" }) =>
        `/v1beta1/projects/${project}/locations/${location}/interactions`,
    },
  },
  quirks: {
    genai: { mediaUrls: ["image", "document", "audio", "video"] },
    messages: { forwardBetas: true, mediaUrls: [], structuredOutput: false, hostedTools: false },
  },
};
