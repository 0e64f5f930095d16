import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { generateText, LanguageModel } from "ai";
import type { SampledDialect } from "../../testing/sampled-dialects.ts";
import type { Kind, SimulatedGateway } from "./support.ts";

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]["providerOptions"]>;

interface ModelSetup {
  url: string;
  apiKey: string;
  fetch?: typeof fetch;
}

/** One of the AI SDK's providers, pointed at one of the gateway's doors. */
export interface AiProvider {
  name: string;
  dialect: SampledDialect;
  kind: Kind;
  /** The kind whose hosts show their thoughts and accept them back. */
  thinkingKind: Kind;
  /** What makes this provider's models think. */
  thinking: ProviderOptions;
  /** The status under which the protocol reports an overloaded upstream. */
  overloadedStatus: number;
  /** What the package makes of a connection that breaks in mid-stream. */
  broken: Record<string, string | number>;
  model(setup: ModelSetup, kind: Kind, name: string): LanguageModel;
}

const compatible = { name: "trivium", includeUsage: true, supportsStructuredOutputs: true };
const chat = {
  dialect: "chat" as const,
  thinking: { trivium: { reasoningEffort: "low" } },
  overloadedStatus: 503,
  broken: { type: "api_error", code: "upstream_failed" },
};
const messages = {
  dialect: "messages" as const,
  thinking: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
  overloadedStatus: 529,
  broken: { type: "api_error" },
};
const genai = {
  dialect: "genai" as const,
  thinking: { google: { thinkingConfig: { includeThoughts: true } } },
  overloadedStatus: 503,
  broken: { name: "AI_APICallError", statusCode: 502 },
};

const OWN_PROVIDERS: readonly AiProvider[] = [
  {
    name: "openai-compatible at the contract door, provider openai",
    kind: "openai",
    thinkingKind: "openai-compatible",
    ...chat,
    model: ({ url, ...setup }, kind, name) =>
      createOpenAICompatible({ ...compatible, ...setup, baseURL: `${url}/api/v1` })(`${kind}/${name}`),
  },
  {
    name: "openai-compatible at the drop-in door, provider simulator",
    kind: "simulator",
    thinkingKind: "simulator",
    ...chat,
    model: ({ url, ...setup }, kind, name) =>
      createOpenAICompatible({ ...compatible, ...setup, baseURL: `${url}/v1` })(`${kind}/${name}`),
  },
  {
    name: "anthropic at the contract door, provider anthropic",
    kind: "anthropic",
    thinkingKind: "anthropic",
    ...messages,
    model: ({ url, ...setup }, kind, name) =>
      createAnthropic({ ...setup, baseURL: `${url}/api/msg/v1` })(`${kind}/${name}`),
  },
  {
    name: "anthropic at the drop-in door, provider simulator",
    kind: "simulator",
    thinkingKind: "simulator",
    ...messages,
    model: ({ url, ...setup }, kind, name) => createAnthropic({ ...setup, baseURL: `${url}/v1` })(`${kind}/${name}`),
  },
  {
    name: "google at the contract door, provider vertex",
    kind: "vertex",
    thinkingKind: "vertex",
    ...genai,
    model: ({ url, ...setup }, kind, name) =>
      createGoogleGenerativeAI({ ...setup, baseURL: `${url}/api/genai/v1` })(`publishers/${kind}/models/${name}`),
  },
  {
    // This provider puts a name with a slash into the URL unchanged, without `models/` (sdks 1.1).
    name: "google at the drop-in door, provider gemini",
    kind: "gemini",
    thinkingKind: "gemini",
    ...genai,
    model: ({ url, ...setup }, kind, name) =>
      createGoogleGenerativeAI({ ...setup, baseURL: `${url}/v1beta` })(`${kind}/${name}`),
  },
];

/** A package at one of the doors, with models whose providers speak other protocols. */
const withOthers = (start: string, kinds: readonly Kind[]): AiProvider[] =>
  OWN_PROVIDERS.filter(({ name }) => name.startsWith(start)).flatMap((provider) =>
    kinds.map((kind) => ({ ...provider, name: `${start}, provider ${kind}`, kind, thinkingKind: kind })),
  );

export const AI_PROVIDERS: readonly AiProvider[] = [
  ...OWN_PROVIDERS,
  ...withOthers("openai-compatible at the drop-in door", ["anthropic", "gemini", "bedrock"]),
  ...withOthers("anthropic at the contract door", ["openai-compatible", "gemini", "bedrock"]),
  ...withOthers("google at the contract door", ["anthropic", "openai-compatible", "bedrock"]),
];

export const setupOf = ({ gateway }: SimulatedGateway, apiKey = gateway.key): ModelSetup => ({
  url: gateway.url,
  apiKey,
});
