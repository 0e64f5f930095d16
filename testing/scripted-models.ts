import type { DialectName } from "../src/canon/dialect-name.ts";

/** A model of each dialect at one scripted upstream. */
export function scriptedModels(
  upstreamUrl: string,
  timeout_ms: { first_byte: number; idle: number; content?: number; total?: number } = { first_byte: 3000, idle: 1500 },
): Record<string, unknown> {
  const prices = {
    prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
    completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
  };
  const model = (id: string, provider: string) => ({
    id,
    display_name: id,
    context_length: 200_000,
    max_output_tokens: 8192,
    input_modalities: ["text", "image"],
    output_modalities: ["text"],
    reasoning: true,
    pricings: prices,
    offers: [{ provider, model: "upstream-model" }],
  });
  return {
    providers: {
      "up-chat": {
        kind: "openai",
        base_url: `${upstreamUrl}/v1`,
        api_key: "upstream-secret-chat",
        timeout_ms,
      },
      "up-messages": {
        kind: "anthropic",
        base_url: upstreamUrl,
        api_key: "upstream-secret-messages",
        timeout_ms,
      },
      "up-genai": {
        kind: "gemini",
        base_url: upstreamUrl,
        api_key: "upstream-secret-genai",
        timeout_ms,
      },
    },
    models: [model("test/chat", "up-chat"), model("test/messages", "up-messages"), model("test/genai", "up-genai")],
  };
}

/** The provider whose model is called in the dialect. */
export const scriptedProvider = (dialect: DialectName): string => `up-${PROVIDER_OF[dialect] ?? dialect}`;

/** Dialects that a provider speaks in addition to its first one. */
const PROVIDER_OF: Partial<Record<DialectName, string>> = { responses: "chat", interactions: "genai" };

/** The same, with models that are called in the other dialects of their providers. */
export function modelsOfEveryDialect(...options: Parameters<typeof scriptedModels>): Record<string, unknown> {
  const scripted = scriptedModels(...options);
  const models = scripted["models"] as object[];
  const more = (["responses", "interactions"] as const).map((dialect) => ({
    ...models[0],
    id: `test/${dialect}`,
    offers: [{ provider: scriptedProvider(dialect), model: UPSTREAM_NAMES[dialect], dialect }],
  }));
  return { ...scripted, models: [...models, ...more] };
}

/** A host serves only some models in its newer dialect. */
const UPSTREAM_NAMES = { responses: "upstream-model", interactions: "gemini-3-upstream-model" };
