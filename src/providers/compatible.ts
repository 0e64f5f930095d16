import { withoutAbsent } from "../base/without-absent.ts";
import type { ToolIdRule } from "../canon/tool-id.ts";
import type { ChatQuirks } from "../dialects/chat/quirks.ts";
import type { MediaQuirks } from "../dialects/request/media-quirks.ts";
import type { ResponsesQuirks } from "../dialects/responses/quirks.ts";
import { bearer } from "./auth.ts";
import { OPENROUTER_BILLING } from "./billing/openrouter.ts";
import { X_AI_BILLING } from "./billing/x-ai.ts";
import { cohereServices } from "./cohere/services.ts";
import { minimaxAdapters } from "./minimax/adapters.ts";
import { COMPATIBLE_AUDIO, COMPATIBLE_TRANSCRIPTIONS } from "./openai/audio-services.ts";
import { openaiCompletions } from "./openai/completions.ts";
import { openaiModerations } from "./openai/moderations.ts";
import type { ProviderDeclaration, SpokenDialect } from "./provider.ts";
import { qwenAdapters } from "./qwen/adapters.ts";
import { qwenServices } from "./qwen/services.ts";
import {
  COMPATIBLE_EMBEDDINGS,
  COMPATIBLE_SERVICES,
  MISTRAL_SERVICES,
} from "./service-adapters/compatible-services.ts";
import { volcengineAdapters } from "./volcengine/adapters.ts";
import { xAiImages } from "./x-ai/images.ts";
import { xAiVideos } from "./x-ai/videos.ts";
import { zAiImages } from "./z-ai/images.ts";
import { zAiVideos } from "./z-ai/videos.ts";

/** Hosts that speak chat completions below one base URL with a bearer key. Their differences are in their quirks. */
type Host = Pick<ProviderDeclaration, "kind" | "systemName" | "tracesCalls" | "media" | "services" | "billing"> & {
  /** Those of its chat dialect; its messages dialect takes the same media. */
  quirks?: Partial<ChatQuirks>;
  /** The vendor's base URL; a host without `variable` runs locally and needs no key. */
  baseUrl: string;
  publishers?: readonly string[];
  variable?: string;
  /** The base URL of the messages dialect, where the host speaks that too: it cannot be derived from a `base_url`. */
  messagesUrl?: string;
  /** The quirks of its Responses dialect, where the host speaks that too (R32). */
  responses?: Partial<ResponsesQuirks>;
  /** Where a key can be tried free of charge; the list of models, unless the host shows that without a key. */
  probePath?: string;
};

/** The API before chat, for any model. */
const COMPLETIONS = [openaiCompletions(() => true)];

const CHAT: SpokenDialect = { generate: () => "/chat/completions" };

/** For hosts that always send usage and may reject the option. */
const CHAT_WITH_USAGE: SpokenDialect = { ...CHAT, body: { remove: ["stream_options"] } };

const messagesAt = (baseUrl: string, origin: string): SpokenDialect => ({
  baseUrl,
  origin,
  generate: () => "/v1/messages",
  headers: () => ({ "anthropic-version": "2023-06-01" }),
});

/** A host at another address may not support it. */
const responsesOf = (origin: string): SpokenDialect => ({ optional: true, origin, generate: () => "/responses" });

/** Hosts that return reasoning as plain text. */
const OPEN: Partial<ResponsesQuirks> = {
  seals: false,
  openReasoning: true,
  summaries: false,
  toolTypes: ["function"],
  accountFields: false,
};

/** Chat has no form for a document by URL. None of the messages endpoints takes a schema for the answer. */
const CHAT_MEDIA: Partial<MediaQuirks> = { mediaUrls: ["image"] };

const mediaOf = ({ media, mediaUrls }: Partial<MediaQuirks>): Partial<MediaQuirks> => ({
  ...withoutAbsent({ media, mediaUrls }),
});

function declare(host: Host): ProviderDeclaration {
  const {
    baseUrl,
    publishers = [],
    variable,
    messagesUrl,
    responses,
    quirks = {},
    probePath = "/models",
    ...rest
  } = host;
  const { kind } = rest;
  const narrows = messagesUrl === undefined && responses === undefined ? [] : ["dialects"];
  return {
    ...rest,
    publishers,
    ...(variable === undefined ? {} : { variables: { api_key: variable } }),
    fields:
      variable === undefined
        ? { required: [], optional: ["api_key", ...narrows] }
        : { required: ["api_key"], optional: narrows },
    baseUrl: () => baseUrl,
    authenticate: bearer,
    probe: { path: probePath },
    dialects: {
      chat: quirks.askStreamUsage === false ? CHAT_WITH_USAGE : CHAT,
      ...withoutAbsent({
        messages: messagesUrl === undefined ? undefined : messagesAt(messagesUrl, kind),
        responses: responses === undefined ? undefined : responsesOf(kind),
      }),
    },
    quirks: {
      chat: { ...CHAT_MEDIA, ...quirks },
      ...(messagesUrl === undefined
        ? {}
        : { messages: { structuredOutput: false, hostedTools: false, ...CHAT_MEDIA, ...mediaOf(quirks) } }),
      ...(responses === undefined ? {} : { responses: { ...mediaOf(quirks), ...responses } }),
    },
  };
}

/** Exactly nine letters and digits. */
const NINE_CHARACTERS: ToolIdRule = { pattern: /^[a-zA-Z0-9]{9}$/, make: (seed) => seed.slice(-9).padStart(9, "0") };
const THINK_TAGS = { open: "<think>", close: "</think>" };

export const COMPATIBLE_PROVIDERS: readonly ProviderDeclaration[] = [
  // https://api-docs.deepseek.com/api/create-chat-completion
  declare({
    kind: "deepseek",
    publishers: ["deepseek"],
    variable: "DEEPSEEK_API_KEY",
    baseUrl: "https://api.deepseek.com",
    messagesUrl: "https://api.deepseek.com/anthropic",
    responses: { ...OPEN, toolTypes: ["function", "web_search"] },
    quirks: {
      maxTokensField: "max_tokens",
      reasoningField: "thinking",
      thinkingEffort: true,
      efforts: ["high", "max"],
      reasoningHistory: "required",
      unsupported: ["topK", "seed"],
      outputFormats: ["json"],
      media: [],
      mediaUrls: [],
    },
  }),
  // https://docs.x.ai/docs/api-reference
  declare({
    kind: "x-ai",
    billing: X_AI_BILLING,
    publishers: ["x-ai"],
    variable: "XAI_API_KEY",
    baseUrl: "https://api.x.ai/v1",
    media: { images: [xAiImages], videos: [xAiVideos] },
    responses: {
      efforts: ["off", "low", "medium", "high"],
      toolTypes: ["function", "web_search", "x_search", "file_search", "code_interpreter", "mcp"],
      searchFields: ["filters"],
      badKeyIs400: true,
    },
    quirks: {
      efforts: ["off", "low", "medium", "high"],
      reasoningBeside: true,
      limitsReasoning: false,
      unsupported: ["topK", "frequencyPenalty", "presencePenalty"],
      media: ["image"],
      mediaUrls: ["image"],
    },
  }),
  // https://docs.mistral.ai/api/
  declare({
    kind: "mistral",
    systemName: "mistral_ai",
    publishers: ["mistralai"],
    variable: "MISTRAL_API_KEY",
    baseUrl: "https://api.mistral.ai/v1",
    services: {
      ...MISTRAL_SERVICES,
      transcriptions: COMPATIBLE_TRANSCRIPTIONS,
      moderations: [openaiModerations(() => true)],
    },
    quirks: {
      maxTokensField: "max_tokens",
      seedField: "random_seed",
      efforts: ["off", "high"],
      anyToolWord: "any",
      toolId: NINE_CHARACTERS,
      prefill: "prefix",
      askStreamUsage: false,
      unsupported: ["topK", "logprobs", "logitBias", "userId", "verbosity"],
      media: ["image"],
      mediaUrls: ["image"],
    },
  }),
  // https://console.groq.com/docs/api-reference
  declare({
    kind: "groq",
    variable: "GROQ_API_KEY",
    baseUrl: "https://api.groq.com/openai/v1",
    services: COMPATIBLE_AUDIO,
    quirks: {
      prefill: "plain",
      unsupported: ["topK", "logprobs", "logitBias", "candidateCount"],
      // Where a model's reasoning is not parsed, it is part of the text.
      reasoningTags: THINK_TAGS,
      media: ["image"],
      mediaUrls: ["image"],
    },
  }),
  // https://docs.together.ai/reference/chat-completions-1
  declare({
    kind: "together",
    variable: "TOGETHER_API_KEY",
    baseUrl: "https://api.together.xyz/v1",
    services: { ...COMPATIBLE_SERVICES, ...COMPATIBLE_AUDIO, completions: COMPLETIONS },
    quirks: {
      prefill: "plain",
      maxTokensField: "max_tokens",
      unsupported: [],
      reasoningTags: THINK_TAGS,
      media: ["image", "video"],
    },
  }),
  // https://docs.fireworks.ai/api-reference/post-chatcompletions
  declare({
    kind: "fireworks",
    variable: "FIREWORKS_API_KEY",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    services: { ...COMPATIBLE_SERVICES, completions: COMPLETIONS },
    quirks: {
      prefill: "plain",
      maxTokensField: "max_tokens",
      reasoningHistory: "keep",
      unsupported: [],
      reasoningTags: THINK_TAGS,
      media: ["image"],
      mediaUrls: ["image"],
    },
  }),
  // https://openrouter.ai/docs/api/reference/overview
  declare({
    kind: "openrouter",
    billing: OPENROUTER_BILLING,
    variable: "OPENROUTER_API_KEY",
    baseUrl: "https://openrouter.ai/api/v1",
    services: { ...COMPATIBLE_EMBEDDINGS, completions: COMPLETIONS },
    probePath: "/key",
    // It calls hosts of every family: some show their reasoning, some seal it.
    responses: { openReasoning: true, toolTypes: ["function", "web_search"], mediaUrls: ["image"] },
    quirks: {
      prefill: "plain",
      maxTokensField: "max_tokens",
      reasoningField: "reasoning",
      efforts: ["off", "minimal", "low", "medium", "high", "xhigh"],
      reasoningHistory: "keep",
      reasoningHistoryField: "reasoning",
      reasoningDetails: true,
      cacheControl: true,
      unsupported: [],
    },
  }),
  // https://platform.moonshot.ai/docs/api/chat
  declare({
    kind: "moonshot",
    systemName: "moonshot_ai",
    publishers: ["moonshotai"],
    variable: "MOONSHOT_API_KEY",
    baseUrl: "https://api.moonshot.ai/v1",
    messagesUrl: "https://api.moonshot.ai/anthropic",
    quirks: {
      maxTokensField: "max_tokens",
      reasoningField: "thinking",
      reasoningHistory: "required",
      reasoningPlaceholder: " ",
      temperature: { min: 0, max: 1 },
      anyToolWord: undefined,
      unsupported: ["topK", "seed"],
      media: ["image", "video"],
      mediaUrls: [],
    },
  }),
  // https://docs.z.ai/api-reference/llm/chat-completion
  declare({
    kind: "z-ai",
    publishers: ["z-ai"],
    variable: "ZAI_API_KEY",
    baseUrl: "https://api.z.ai/api/paas/v4",
    messagesUrl: "https://api.z.ai/api/anthropic",
    media: { images: [zAiImages], videos: [zAiVideos] },
    services: COMPATIBLE_EMBEDDINGS,
    quirks: {
      maxTokensField: "max_tokens",
      reasoningField: "thinking",
      reasoningHistory: "keep",
      temperature: { min: 0, max: 1 },
      topP: { min: 0, max: 1 },
      anyToolWord: undefined,
      namedToolChoice: false,
      outputFormats: ["json"],
      unsupported: ["topK", "seed", "frequencyPenalty", "presencePenalty", "logprobs", "logitBias", "userId"],
      media: ["image", "video"],
      mediaUrls: ["image", "video"],
    },
  }),
  // https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope
  declare({
    kind: "qwen",
    publishers: ["qwen"],
    variable: "DASHSCOPE_API_KEY",
    baseUrl: "https://dashscope.aliyuncs.com/compatible-mode/v1",
    messagesUrl: "https://dashscope.aliyuncs.com/apps/anthropic",
    quirks: {
      maxTokensField: "max_tokens",
      reasoningField: "enable_thinking",
      limitsReasoning: false,
      cacheControl: true,
      unsupported: ["frequencyPenalty"],
      media: ["image", "audio", "video"],
      mediaUrls: ["image", "audio", "video"],
    },
    media: qwenAdapters,
    services: qwenServices,
  }),
  // https://platform.minimax.io/docs/api-reference/text-openai-api
  declare({
    kind: "minimax",
    publishers: ["minimax"],
    variable: "MINIMAX_API_KEY",
    baseUrl: "https://api.minimax.io/v1",
    messagesUrl: "https://api.minimax.io/anthropic",
    media: minimaxAdapters,
    quirks: {
      maxTokensField: "max_tokens",
      reasoningField: "thinking",
      // https://platform.minimax.io/docs/guides/text-m2-function-call: a history keeps its reasoning.
      reasoningDetails: "instead",
      reasoningTags: THINK_TAGS,
      alwaysTagged: true,
      media: ["image", "video"],
      mediaUrls: ["image"],
    },
  }),
  // https://www.volcengine.com/docs/82379/1494384
  declare({
    kind: "volcengine",
    publishers: ["bytedance"],
    variable: "ARK_API_KEY",
    baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
    quirks: {
      maxTokensField: "max_tokens",
      reasoningField: "thinking",
      unsupported: ["topK", "seed"],
      media: ["image", "video"],
      mediaUrls: ["image", "video"],
    },
    media: volcengineAdapters,
    services: COMPATIBLE_EMBEDDINGS,
  }),
  // https://inference-docs.cerebras.ai/
  declare({
    kind: "cerebras",
    variable: "CEREBRAS_API_KEY",
    baseUrl: "https://api.cerebras.ai/v1",
    services: { completions: COMPLETIONS },
    quirks: {
      askStreamUsage: false,
      unsupported: [
        "topK",
        "frequencyPenalty",
        "presencePenalty",
        "logprobs",
        "logitBias",
        "candidateCount",
        "verbosity",
        "parallelTools",
      ],
      media: [],
      mediaUrls: [],
    },
  }),
  // https://docs.cohere.com/docs/compatibility-api
  declare({
    kind: "cohere",
    publishers: ["cohere"],
    variable: "COHERE_API_KEY",
    baseUrl: "https://api.cohere.ai/compatibility/v1",
    services: cohereServices,
    quirks: {
      maxTokensField: "max_tokens",
      efforts: ["off", "high"],
      askStreamUsage: false,
      unsupported: ["topK", "logprobs", "logitBias", "candidateCount", "parallelTools", "userId", "verbosity"],
      media: ["image"],
      mediaUrls: ["image"],
    },
  }),
  // https://docs.ollama.com/api/openai-compatibility
  declare({
    kind: "ollama",
    tracesCalls: true,
    baseUrl: "http://127.0.0.1:11434/v1",
    responses: OPEN,
    services: { ...COMPATIBLE_EMBEDDINGS, completions: COMPLETIONS },
    quirks: {
      prefill: "plain",
      maxTokensField: "max_tokens",
      efforts: ["off", "low", "medium", "high", "max"],
      reasoningHistory: "keep",
      reasoningHistoryField: "reasoning",
      anyToolWord: undefined,
      namedToolChoice: false,
      unsupported: ["topK", "logprobs", "logitBias", "candidateCount", "parallelTools", "userId", "verbosity"],
      media: ["image"],
      mediaUrls: [],
    },
  }),
  // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
  declare({
    kind: "vllm",
    tracesCalls: true,
    baseUrl: "http://127.0.0.1:8000/v1",
    responses: { ...OPEN, mediaUrls: ["image"] },
    services: { ...COMPATIBLE_SERVICES, ...COMPATIBLE_AUDIO, completions: COMPLETIONS },
    quirks: {
      maxTokensField: "max_tokens",
      reasoningHistory: "keep",
      reasoningHistoryField: "reasoning",
      unsupported: [],
    },
  }),
  // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
  declare({
    kind: "llama.cpp",
    tracesCalls: true,
    baseUrl: "http://127.0.0.1:8080/v1",
    services: { ...COMPATIBLE_SERVICES, completions: COMPLETIONS },
    quirks: {
      prefill: "plain",
      maxTokensField: "max_tokens",
      efforts: ["off"],
      reasoningHistory: "keep",
      unsupported: [],
      media: ["image", "audio"],
      mediaUrls: [],
    },
  }),
];
