import { TIMEOUT_MS } from "./provider-timeouts.ts";
import type { ServiceWord } from "./scenario.ts";

/** Service hosts; none of them serves conversations. */
export const SERVICE_PROVIDERS: Readonly<Record<string, { kind: string; baseUrl: string }>> = {
  eta: { kind: "openai", baseUrl: "http://eta.localhost/v1" },
  theta: { kind: "openai-compatible", baseUrl: "http://theta.localhost/v1" },
  iota: { kind: "cohere", baseUrl: "http://iota.localhost/compatibility/v1" },
};

export const secretOfService = (provider: string): string => `secret-of-${provider}`;

/** Nano-dollars per unit, or per million units with `perMillion`. */
interface UnitPrice {
  /** The ledger column that counts the unit. */
  column: string;
  name: string;
  unit: "perMTokens" | "perCount" | "perSecond" | "perMCharacters";
  nanoUsd: number;
}

const perMillion = (column: string, name: string, nanoUsd: number): UnitPrice => ({
  column,
  name,
  unit: "perMTokens",
  nanoUsd,
});

interface ServiceOffer {
  provider: string;
  model: string;
  prices: readonly UnitPrice[];
}

interface ServiceModel {
  id: string;
  output: string;
  input: string;
  offers: readonly ServiceOffer[];
}

const offer = (provider: string, model: string, ...prices: UnitPrice[]): ServiceOffer => ({ provider, model, prices });

const byCharacter = (nanoUsd: number): UnitPrice => ({
  column: "usage_characters",
  name: "characters",
  unit: "perMCharacters",
  nanoUsd,
});
const bySecond = (nanoUsd: number): UnitPrice => ({
  column: "usage_seconds",
  name: "audio",
  unit: "perSecond",
  nanoUsd,
});
const bySearch = (nanoUsd: number): UnitPrice => ({
  column: "usage_searches",
  name: "search_unit",
  unit: "perCount",
  nanoUsd,
});
const byTokens = (input: number, output: number): UnitPrice[] => [
  perMillion("usage_input", "prompt", input),
  perMillion("usage_output", "completion", output),
];

/** One model per service, with the providers that offer it, in order. */
export const SERVICE_MODELS: Readonly<Record<ServiceWord, ServiceModel>> = {
  embeddings: {
    id: "sim/embedding",
    input: "text",
    output: "embeddings",
    offers: [
      offer("iota", "embed-v4.0", perMillion("usage_input", "prompt", 120_000_001)),
      offer("eta", "text-embedding-3-small", perMillion("usage_input", "prompt", 20_000_003)),
      offer("theta", "some-embedding", perMillion("usage_input", "prompt", 7_000_000)),
    ],
  },
  rerank: {
    id: "sim/rerank",
    input: "text",
    output: "rerank",
    offers: [
      offer("iota", "rerank-v3.5", bySearch(2_000_000)),
      offer("theta", "some-rerank", perMillion("usage_input", "prompt", 50_000_007)),
    ],
  },
  speech: {
    id: "sim/speech",
    input: "text",
    output: "audio",
    offers: [
      offer("eta", "tts-1", byCharacter(15_000_000_000)),
      offer("theta", "some-voice", byCharacter(999_999_999)),
    ],
  },
  transcriptions: {
    id: "sim/transcriber",
    input: "audio",
    output: "transcription",
    offers: [offer("eta", "whisper-1", bySecond(100_000)), offer("theta", "some-ears", bySecond(33_333))],
  },
  completions: {
    id: "sim/completion",
    input: "text",
    output: "text",
    offers: [
      offer("theta", "some-base", ...byTokens(70_000_001, 210_000_013)),
      offer("eta", "gpt-3.5-turbo-instruct", ...byTokens(1_500_000_000, 2_000_000_000)),
    ],
  },
  moderations: {
    id: "sim/moderation",
    input: "text",
    output: "moderation",
    offers: [offer("eta", "omni-moderation-latest"), offer("theta", "some-moderator")],
  },
};

/** Their part of `trivium.yaml`. */
export function serviceSections(): { providers: Record<string, unknown>; models: object[] } {
  const providers = Object.entries(SERVICE_PROVIDERS).map(([name, { kind, baseUrl }]) => [
    name,
    { kind, base_url: baseUrl, api_key: secretOfService(name), timeout_ms: TIMEOUT_MS },
  ]);
  const models = Object.values(SERVICE_MODELS).map(({ id, input, output, offers }) => ({
    id,
    context_length: 200_000,
    input_modalities: [input],
    output_modalities: [output],
    offers: offers.map(({ provider, model, prices }) => ({
      provider,
      model,
      pricings: Object.fromEntries(
        prices.map(({ name, unit, nanoUsd }) => [name, [{ value: nanoUsd / 1e9, unit, currency: "USD" }]]),
      ),
    })),
  }));
  return { providers: Object.fromEntries(providers), models };
}

const MILLION = 1_000_000n;

/** The cost of a row's columns at its provider's prices, in nano-dollars, rounded once, half up. */
export function serviceCost(service: ServiceWord, provider: string, column: (name: string) => number): number {
  const prices = SERVICE_MODELS[service].offers.find((one) => one.provider === provider)?.prices ?? [];
  let exact = 0n;
  for (const price of prices) {
    const units = BigInt(column(price.column)) * BigInt(price.nanoUsd);
    exact += price.unit === "perSecond" || price.unit === "perCount" ? units * MILLION : units;
  }
  return Number((exact + MILLION / 2n) / MILLION);
}
