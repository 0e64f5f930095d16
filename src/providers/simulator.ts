import { VERSION_2026 } from "../dialects/messages/version-2026.ts";
import type { AdapterContext, ImageAdapter, MediaRequest, VideoAdapter } from "../media/adapter.ts";
import type { CompletionAdapter } from "../services/completion/completion-adapter.ts";
import type { EmbeddingAdapter } from "../services/embeddings/embedding-adapter.ts";
import type { ModerationAdapter } from "../services/moderation/moderation-adapter.ts";
import type { RerankAdapter } from "../services/rerank/rerank-adapter.ts";
import type { SpeechAdapter } from "../services/speech/speech-adapter.ts";
import type { TranscriptionAdapter } from "../services/transcription/transcription-adapter.ts";
import { messagesHeaders } from "./anthropic.ts";
import { SIMULATOR_BATCHES } from "./batches/simulator.ts";
import { SIMULATOR_BILLING } from "./billing/simulator.ts";
import { cohereRerank } from "./cohere/services.ts";
import { ANTHROPIC_FILES } from "./files/anthropic.ts";
import { GEMINI_FILES } from "./files/gemini.ts";
import { OPENAI_FILES } from "./files/openai.ts";
import { googleCaches } from "./google/caches.ts";
import { googleDialect } from "./google-dialect.ts";
import { LIVE_HOST, REALTIME_HOST } from "./live-host.ts";
import { openaiCompletions } from "./openai/completions.ts";
import { openaiEmbeddings } from "./openai/embeddings.ts";
import { openaiImages } from "./openai/images.ts";
import { openaiModerations } from "./openai/moderations.ts";
import { openaiSpeech } from "./openai/speech.ts";
import { openaiTranscriptions } from "./openai/transcriptions.ts";
import type { ProviderDeclaration } from "./provider.ts";
import { videos as seedance } from "./volcengine/videos.ts";

const VOICE = openaiSpeech({
  serves: (model) => model === "voice",
  answersInEvents: () => true,
  takesInstructions: () => true,
});

const TRANSCRIBER: Parameters<typeof openaiTranscriptions>[0] = {
  serves: (model) => model === "transcriber",
  capabilities: () => ({ formats: ["json", "verbose_json"], streams: true }),
};

const MEGABYTE = 1024 * 1024;
/** It reads requests whole. */
const MAX_FILE_BYTES = 100 * MEGABYTE;

/** The simulator has no limit on polling. */
const POLL_MS = 250;

const below = (request: MediaRequest, root: string): MediaRequest =>
  request.url.startsWith("/") ? { ...request, url: root + request.url } : request;

/** A simulator model that one of its simulated hosts serves, under the simulator's own names: the current one, and the former. */
function played<Adapter extends ImageAdapter | VideoAdapter>(
  adapter: Adapter,
  names: readonly [string, string],
  root: string,
  model: string,
): Adapter {
  const there = (context: AdapterContext): AdapterContext => ({ ...context, model });
  const { poll } = adapter;
  const stream = "stream" in adapter ? adapter.stream : undefined;
  return {
    ...adapter,
    pollIntervalMs: POLL_MS,
    serves: (asked: string) => names.includes(asked),
    capabilities: () => adapter.capabilities(model),
    submit: (call: never, context: AdapterContext) => below(adapter.submit(call, there(context)), root),
    ...(poll && ({ poll: (job, context) => below(poll(job, there(context)), root) } satisfies Partial<VideoAdapter>)),
    ...(stream && {
      stream: {
        ...stream,
        serves: (asked: string) => names.includes(asked),
        submit: (call: never, context: AdapterContext) => below(stream.submit(call, there(context)), root),
      },
    }),
  };
}

/** The same for services. */
function playedEmbeddings(adapter: EmbeddingAdapter, name: string, root: string, model: string): EmbeddingAdapter {
  return {
    ...adapter,
    serves: (asked) => asked === name,
    capabilities: () => adapter.capabilities(model),
    submit: (batch, context) => below(adapter.submit(batch, { ...context, model }), root),
  };
}

function playedRerank(adapter: RerankAdapter, name: string, root: string, model: string): RerankAdapter {
  return {
    ...adapter,
    serves: (asked) => asked === name,
    submit: (call, context) => below(adapter.submit(call, { ...context, model }), root),
  };
}

/** The simulator's own models at its host of this API. */
function atOpenai<Adapter extends SpeechAdapter | TranscriptionAdapter | ModerationAdapter | CompletionAdapter>(
  adapter: Adapter,
): Adapter {
  return {
    ...adapter,
    submit: (call: never, context: AdapterContext) => below(adapter.submit(call, context), "/openai/v1"),
  };
}

/** The built-in simulator, which implements all client dialects over real HTTP. Its URL is known once it has started. */
export const simulator: ProviderDeclaration = {
  kind: "simulator",
  billing: SIMULATOR_BILLING,
  publishers: [],
  fields: { required: ["base_url"], optional: ["api_key"] },
  baseUrl: () => {
    throw new Error("the simulator's base URL is only known after it starts");
  },
  authenticate: (settings) => {
    // It accepts any key, but requires one, like the hosts that it simulates.
    const key = settings.apiKey?.reveal() ?? "simulated";
    const headers = { "x-api-key": key, "x-goog-api-key": key, authorization: `Bearer ${key}` };
    return () => headers;
  },
  dialects: {
    chat: { generate: () => "/openai/v1/chat/completions" },
    messages: {
      generate: () => "/anthropic/v1/messages",
      countTokens: () => "/anthropic/v1/messages/count_tokens",
      headers: messagesHeaders,
    },
    genai: googleDialect(() => "/gemini/v1beta/models"),
    responses: {
      generate: () => "/openai/v1/responses",
      countTokens: () => "/openai/v1/responses/input_tokens",
    },
    interactions: { generate: () => "/gemini/v1beta/interactions" },
  },
  live: {
    realtime: { path: (model, settings) => `/openai/v1${REALTIME_HOST.path(model, settings)}`, byName: true },
    live: { ...LIVE_HOST, path: (model, settings) => `/gemini${LIVE_HOST.path(model, settings)}`, byName: true },
  },
  media: {
    images: [played(openaiImages, ["image", "picture"], "/openai/v1", "gpt-image-2")],
    videos: [played(seedance, ["video", "film"], "/hosts/volcengine/api/v3", "doubao-seedance-1-5-pro-251215")],
  },
  services: {
    embeddings: [playedEmbeddings(openaiEmbeddings, "embedding", "/openai/v1", "text-embedding-3-small")],
    rerank: [playedRerank(cohereRerank, "rerank", "/hosts/cohere", "rerank-v3.5")],
    // Its host of the other API plays the same model in conversations.
    speech: [{ ...atOpenai(VOICE), dialect: "genai" }],
    transcriptions: [atOpenai(openaiTranscriptions(TRANSCRIBER))],
    translations: [atOpenai(openaiTranscriptions(TRANSCRIBER))],
    moderations: [atOpenai(openaiModerations((model) => model === "moderation"))],
    completions: [atOpenai(openaiCompletions(() => true))],
    caches: [
      googleCaches({
        root: "/gemini/v1beta/",
        collection: () => "/gemini/v1beta/cachedContents",
        model: (name) => `models/${name}`,
        serves: () => true,
      }),
    ],
  },
  batches: SIMULATOR_BATCHES,
  files: [
    { ...OPENAI_FILES, base: (url) => `${url}/openai/v1`, maxBytes: MAX_FILE_BYTES },
    { ...ANTHROPIC_FILES, base: (url) => `${url}/anthropic`, maxBytes: MAX_FILE_BYTES },
    { ...GEMINI_FILES, base: (url) => `${url}/gemini`, maxBytes: MAX_FILE_BYTES },
  ],
  maxRequestBytes: 32 * MEGABYTE,
  quirks: {
    chat: { reasoningHistory: "keep", mediaUrls: ["image"] },
    messages: { forwardBetas: true, fallbackBlocks: true, mcpServers: true, versions: [VERSION_2026] },
    genai: { labels: false },
  },
};
