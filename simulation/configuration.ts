import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../src/app/read-config.ts";
import type { Config } from "../src/config/config.ts";
import type { ScriptedDialect } from "../testing/sampled-dialects.ts";
import { TIMEOUT_MS } from "./provider-timeouts.ts";
import { serviceSections } from "./service-configuration.ts";

/** Nano-dollars per million tokens. Prices are integers, so a bill can be checked without intermediate rounding. */
export interface Prices {
  input: number;
  cacheRead: number;
  output: number;
}

interface ProviderPlan {
  kind: string;
  dialect: ScriptedDialect;
  baseUrl: string;
  /** Number of credentials; 1 if absent. */
  credentials?: number;
}

/** Each provider has its own host. */
export const PROVIDERS: Readonly<Record<string, ProviderPlan>> = {
  alpha: { kind: "openai", dialect: "chat", baseUrl: "http://alpha.localhost/v1" },
  beta: { kind: "anthropic", dialect: "messages", baseUrl: "http://beta.localhost", credentials: 2 },
  gamma: { kind: "gemini", dialect: "genai", baseUrl: "http://gamma.localhost" },
  delta: { kind: "openai-compatible", dialect: "chat", baseUrl: "http://delta.localhost/v1" },
  epsilon: { kind: "openai", dialect: "responses", baseUrl: "http://epsilon.localhost/v1" },
};

/** Providers that can continue a response begun by another. */
const CONTINUES = new Set(["beta", "gamma", "delta"]);

/** The credentials of a provider. */
export function secretsOf(provider: string): string[] {
  const { credentials = 1 } = PROVIDERS[provider] ?? {};
  return Array.from({ length: credentials }, (_, index) => `secret-of-${provider}-${index + 1}`);
}

/** Limits of concurrent requests to providers, in total and per provider; excess requests wait briefly. */
export const MAX_CONCURRENT = 64;
export const MAX_CONCURRENT_AT: Readonly<Record<string, number>> = { delta: 6 };

/** Video hosts; both offer the same model. */
export const VIDEO_PROVIDERS: Readonly<Record<string, string>> = {
  reel: "http://reel.test/v3",
  film: "http://videos.test/v3",
};
export const VIDEO_MODEL = "sim/video";
export const VIDEO_NANO_USD_PER_SECOND = 10_000_001;

/** By provider. Some are fractions of a nano-dollar per token. */
const PRICES: Readonly<Record<string, Prices>> = {
  alpha: { input: 1_000_000_000, cacheRead: 100_000_000, output: 4_000_000_000 },
  beta: { input: 3_000_000_000, cacheRead: 300_000_000, output: 15_000_000_000 },
  gamma: { input: 37_500_000, cacheRead: 9_375_000, output: 150_000_000 },
  delta: { input: 270_000_123, cacheRead: 70_000_001, output: 1_100_000_457 },
  epsilon: { input: 1_250_000_000, cacheRead: 125_000_000, output: 10_000_000_000 },
};

export function pricesOf(provider: string): Prices {
  const prices = PRICES[provider];
  if (prices === undefined) throw new Error(`no provider is called ${provider}`);
  return prices;
}

/** Models with the providers that offer them, in order. */
export const MODELS: Readonly<Record<string, readonly string[]>> = {
  "sim/chat": ["alpha"],
  "sim/messages": ["beta"],
  "sim/genai": ["gamma"],
  "sim/responses": ["epsilon"],
  "sim/two": ["alpha", "beta"],
  "sim/both": ["epsilon", "gamma"],
  "sim/three": ["gamma", "delta", "beta"],
  "sim/four": ["delta", "alpha", "gamma", "beta"],
};

/** Limits of one model. */
interface ModelPlan {
  requestsPerDay?: number;
  budgetNanoUsdPerDay?: number;
}

interface KeyPlan {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrent?: number;
  budgetNanoUsdPerDay?: number;
  ofModels?: Readonly<Record<string, ModelPlan>>;
}

/** Keys by name. */
export const KEYS: Readonly<Record<string, KeyPlan>> = {
  free: {},
  rated: { requestsPerMinute: 120 },
  metered: { tokensPerMinute: 60_000 },
  narrow: { concurrent: 3 },
  poor: { budgetNanoUsdPerDay: 20_000_000 },
  bound: { requestsPerMinute: 300, concurrent: 8, budgetNanoUsdPerDay: 400_000_000 },
  parted: {
    ofModels: {
      "sim/two": { budgetNanoUsdPerDay: 30_000_000 },
      "sim/genai": { budgetNanoUsdPerDay: 3_000_000 },
      "sim/chat": { requestsPerDay: 5 },
      "sim/three": { requestsPerDay: 9, budgetNanoUsdPerDay: 40_000_000 },
      "sim/transcriber": { budgetNanoUsdPerDay: 3_000_000 },
    },
  },
};

/** Whether money of the key is limited, in all or of one model. */
export const countsMoney = (key: string): boolean => {
  const { budgetNanoUsdPerDay, ofModels = {} } = KEYS[key] ?? {};
  return [budgetNanoUsdPerDay, ...Object.values(ofModels).map((one) => one.budgetNanoUsdPerDay)].some(Number.isFinite);
};

export const secretOf = (key: string): string => `sk-trv-${key.padEnd(43, "x")}`;

export const MAX_OUTPUT_TOKENS = 8192;

function videoModel(): object {
  const price = { value: VIDEO_NANO_USD_PER_SECOND / 1e9, unit: "perSecond", currency: "USD" };
  return {
    id: VIDEO_MODEL,
    output_modalities: ["video"],
    pricings: { video: [price], audio_and_video: [price] },
    offers: Object.keys(VIDEO_PROVIDERS).map((provider) => ({ provider, model: "doubao-seedance-1-5-pro-251215" })),
  };
}

function sections(): Record<string, unknown> {
  const perMillion = (nanoUsd: number) => [{ value: nanoUsd / 1e9, unit: "perMTokens", currency: "USD" }];
  const pricings = ({ input, cacheRead, output }: Prices) => ({
    prompt: perMillion(input),
    input_cache_read: perMillion(cacheRead),
    completion: perMillion(output),
  });
  const services = serviceSections();
  return {
    simulator: false,
    routing: { max_concurrent: MAX_CONCURRENT, max_queue: 48 },
    providers: Object.fromEntries([
      ...Object.entries(services.providers),
      ...Object.entries(PROVIDERS).map(([name, { kind, baseUrl }]) => [
        name,
        {
          kind,
          base_url: baseUrl,
          timeout_ms: TIMEOUT_MS,
          credentials: secretsOf(name).map((api_key) => ({ api_key })),
          max_concurrent: MAX_CONCURRENT_AT[name],
        },
      ]),
      ...Object.entries(VIDEO_PROVIDERS).map(([name, base_url]) => [
        name,
        { kind: "volcengine", base_url, api_key: `secret-of-${name}`, timeout_ms: TIMEOUT_MS },
      ]),
    ]),
    models: [
      videoModel(),
      ...services.models,
      ...Object.entries(MODELS).map(([id, providers]) => ({
        id,
        context_length: 200_000,
        max_output_tokens: MAX_OUTPUT_TOKENS,
        input_modalities: ["text"],
        output_modalities: ["text"],
        reasoning: false,
        offers: providers.map((provider) => ({
          provider,
          model: "upstream-model",
          ...(PROVIDERS[provider]?.dialect === "responses" ? { dialect: "responses" } : {}),
          pricings: pricings(pricesOf(provider)),
          prefill: CONTINUES.has(provider),
        })),
      })),
    ],
    keys: Object.entries(KEYS).map(([name, plan]) => ({
      name,
      project: name,
      key: secretOf(name),
      limits: {
        requests_per_minute: plan.requestsPerMinute,
        tokens_per_minute: plan.tokensPerMinute,
        concurrent: plan.concurrent,
        budget_usd_per_day: plan.budgetNanoUsdPerDay && plan.budgetNanoUsdPerDay / 1e9,
      },
      limits_by_model:
        plan.ofModels &&
        Object.fromEntries(
          Object.entries(plan.ofModels).map(([model, { requestsPerDay, budgetNanoUsdPerDay }]) => [
            model,
            {
              requests_per_day: requestsPerDay,
              budget_usd_per_day: budgetNanoUsdPerDay && budgetNanoUsdPerDay / 1e9,
            },
          ]),
        ),
    })),
  };
}

/** The configuration as the program reads it, from a temporary file. */
export function readConfiguration(): Config {
  const folder = mkdtempSync(join(tmpdir(), "trivium-simulation-"));
  const configPath = join(folder, "trivium.yaml");
  try {
    writeFileSync(configPath, JSON.stringify(sections()));
    return readConfig({ configPath, cwd: folder, environment: {} });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
