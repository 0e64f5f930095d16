// https://ai.google.dev/api/generate-content

import { headerKey } from "./auth.ts";
import { GEMINI_BATCHES } from "./batches/gemini.ts";
import { GOOGLE_BILLING } from "./billing/google.ts";
import { googleAdapters } from "./google/adapters.ts";
import { googleCaches } from "./google/caches.ts";
import { geminiEmbeddings } from "./google/embeddings.ts";
import type { GoogleHost } from "./google/host.ts";
import { googleSpeech } from "./google/speech.ts";
import { googleDialect } from "./google-dialect.ts";
import { LIVE_HOST } from "./live-host.ts";
import type { ProviderDeclaration } from "./provider.ts";

/** Videos on the vendor's own site, and files that were uploaded to this API before. */
const OWN_URLS = /^https:\/\/(?:(?:www\.)?youtube\.com\/|youtu\.be\/|generativelanguage\.googleapis\.com\/)/;

/** Public files of the vendor's other hosts, such as its object storage, do not match. */
const FILES_HOST = /(?:^|[.-])generativelanguage\.(?:[a-z0-9-]+\.)*googleapis\.com\.?$/;

/** The models that the vendor's package lists for its newer API. */
const IN_INTERACTIONS = /^(?:gemini-(?:2\.5|[3-9]|flash|pro)|gemma-4)/;

const HOST: GoogleHost = { name: "gemini", models: () => "/v1beta/models" };

export const gemini: ProviderDeclaration = {
  kind: "gemini",
  billing: GOOGLE_BILLING,
  systemName: "gcp.gemini",
  publishers: ["google"],
  filesHost: FILES_HOST,
  variables: { api_key: "GEMINI_API_KEY" },
  fields: { required: ["api_key"], optional: ["batch"] },
  baseUrl: () => "https://generativelanguage.googleapis.com",
  authenticate: headerKey("x-goog-api-key"),
  // A malformed key is answered with 400.
  probe: { path: "/v1beta/models?pageSize=1", rejections: [400] },
  dialects: {
    genai: googleDialect(() => "/v1beta/models"),
    interactions: {
      optional: true,
      generate: () => "/v1beta/interactions",
      serves: (model) => IN_INTERACTIONS.test(model),
    },
  },
  live: { live: LIVE_HOST },
  media: googleAdapters(HOST),
  services: {
    embeddings: [geminiEmbeddings(HOST)],
    speech: [googleSpeech(HOST)],
    caches: [
      googleCaches({
        root: "/v1beta/",
        collection: () => "/v1beta/cachedContents",
        model: (name) => `models/${name}`,
        serves: () => true,
      }),
    ],
  },
  batches: GEMINI_BATCHES,
  quirks: {
    genai: { labels: false, countsWholeRequest: true, mediaUrls: [], ownUrls: OWN_URLS },
    interactions: { mediaUrls: [], ownUrls: OWN_URLS },
  },
};
