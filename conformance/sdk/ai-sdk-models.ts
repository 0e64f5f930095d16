import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { generateText, LanguageModel } from "ai";
import type { Kind, SimulatedGateway } from "./support.ts";

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]["providerOptions"]>;

export interface ModelSetup {
  url: string;
  apiKey: string;
  fetch?: typeof fetch;
}

/** One of the AI SDK's providers, pointed at one of the gateway's doors. */
export interface AiProvider {
  name: string;
  kind: Kind;
  /** The kind whose hosts show their thoughts and take them back. */
  thinkingKind: Kind;
  /** What asks this provider's models to think. */
  thinking: ProviderOptions;
  /** The status under which the protocol tells an overloaded upstream. */
  overloadedStatus: number;
  /** What the package makes of a connection that breaks in mid-stream. */
  broken: Record<string, string | number>;
  model(setup: ModelSetup, kind: Kind, name: string): LanguageModel;
}

const compatible = { name: "trivium", includeUsage: true, supportsStructuredOutputs: true };
const chat = {
  thinking: { trivium: { reasoningEffort: "low" } },
  overloadedStatus: 503,
  broken: { type: "api_error", code: "upstream_failed" },
};
const messages = {
  thinking: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
  overloadedStatus: 529,
  broken: { type: "api_error" },
};
const genai = {
  thinking: { google: { thinkingConfig: { includeThoughts: true } } },
  overloadedStatus: 503,
  broken: { name: "AI_APICallError", statusCode: 502 },
};

export const AI_PROVIDERS: readonly AiProvider[] = [
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
    // This provider puts a name with a slash into the address as it is, without `models/` (sdk-wire 1.1).
    name: "google at the drop-in door, provider gemini",
    kind: "gemini",
    thinkingKind: "gemini",
    ...genai,
    model: ({ url, ...setup }, kind, name) =>
      createGoogleGenerativeAI({ ...setup, baseURL: `${url}/v1beta` })(`${kind}/${name}`),
  },
];

/** The same packages with models behind the gateway that speak another protocol. */
const TRANSLATED: readonly AiProvider[] = [
  ["openai-compatible at the contract door", ["anthropic", "gemini", "bedrock"]],
  ["anthropic at the contract door", ["openai-compatible", "gemini", "bedrock"]],
  ["google at the contract door", ["anthropic", "openai-compatible", "bedrock"]],
].flatMap()

export const setupOf = ({ gateway }: SimulatedGateway, apiKey = gateway.key): ModelSetup => ({
  url: gateway.url,
  apiKey,
});
