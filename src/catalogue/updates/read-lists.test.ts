import { describe, expect, test } from "bun:test";
import { readLitellm } from "./read-litellm.ts";
import { readModelsDev } from "./read-models-dev.ts";

const tier = (value: number, prompt_tokens: object) => ({
  value,
  unit: "perMTokens",
  currency: "USD",
  conditions: { prompt_tokens: { unit: "kTokens", ...prompt_tokens } },
});

describe("LiteLLM's list", () => {
  const claude = {
    litellm_provider: "anthropic",
    mode: "chat",
    max_input_tokens: 200_000,
    max_output_tokens: 64_000,
    input_cost_per_token: 3e-6,
    input_cost_per_token_above_200k_tokens: 6e-6,
    input_cost_per_token_priority: 6e-6,
    output_cost_per_token: 1.5e-5,
    output_cost_per_token_priority: 3e-5,
    input_cost_per_token_flex: 1e-6,
    output_cost_per_token_flex: 1e-6,
    input_cost_per_token_batches: 1.5e-6,
    cache_creation_input_token_cost: 3.75e-6,
    cache_creation_input_token_cost_above_1hr: 6e-6,
    cache_read_input_token_cost: 0,
    computer_use_cost_per_hour: 2,
    supports_vision: true,
    supports_sampling_params: false,
  };

  test("gives prices per million, tiers, terms and traits", () => {
    const { models, unread } = readLitellm({ "claude-x-1": claude });
    expect(models).toEqual([
      {
        id: "anthropic/claude-x-1",
        upstream_model: "claude-x-1",
        kind: "text",
        context_length: 200_000,
        max_output_tokens: 64_000,
        input_modalities: ["text", "image"],
        output_modalities: ["text"],
        reasoning: false,
        rejects_sampling: true,
        pricings: {
          prompt: [tier(3, { gte: 0, lte: 200 }), tier(6, { gt: 200, lt: null })] as never,
          completion: [{ value: 15, unit: "perMTokens", currency: "USD" }],
          input_cache_write_5_min: [{ value: 3.75, unit: "perMTokens", currency: "USD" }],
          input_cache_write_1_h: [{ value: 6, unit: "perMTokens", currency: "USD" }],
        },
        price_multiples: { priority: 2 },
      },
    ]);
    // Of flex, input and output have different factors.
    expect(unread).toEqual({
      computer_use_cost_per_hour: 1,
      input_cost_per_token_flex: 1,
      output_cost_per_token_flex: 1,
      input_cost_per_token_batches: 1,
    });
  });

  test("leaves out resellers, variants, dated releases and modes without a counterpart, and says how many", () => {
    const { models, skipped } = readLitellm({
      "claude-x-1": claude,
      "claude-x-1-20260101": claude,
      "azure/claude-x-1": { ...claude, litellm_provider: "azure" },
      "low/claude-x-1": claude,
      "live-1": { ...claude, mode: "realtime" },
      "dashscope/deepseek-v9": { ...claude, litellm_provider: "dashscope" },
    });
    expect(models.map(({ id }) => id)).toEqual(["anthropic/claude-x-1"]);
    expect(skipped).toEqual({
      "dated release of a listed model": 1,
      "not a vendor's own API": 1,
      "variant of another model": 1,
      "mode realtime": 1,
      "model of another publisher": 1,
    });
  });
});

describe("models.dev's list", () => {
  test("gives names, dates, limits, modalities and prices", () => {
    const model = {
      name: "Gemini X",
      release_date: "2026-10-01",
      reasoning: true,
      temperature: true,
      modalities: { input: ["text", "pdf", "image"], output: ["text"] },
      limit: { context: 1_048_576, output: 65_536 },
      cost: { input: 1, output: 4, cache_read: 0.1, context_over_200k: { input: 2, output: 6 }, per_request: 3 },
    };
    const { models, unread, skipped } = readModelsDev({
      google: { models: { "gemini-x": model, "imagen-x": { ...model, modalities: { output: ["image"] } } } },
      reseller: { models: { "gemini-x": model } },
    });
    expect(models).toEqual([
      {
        id: "google/gemini-x",
        upstream_model: "gemini-x",
        display_name: "Gemini X",
        kind: "text",
        created: "2026-10-01",
        context_length: 1_048_576,
        max_output_tokens: 65_536,
        input_modalities: ["text", "image", "file"],
        output_modalities: ["text"],
        reasoning: true,
        pricings: {
          prompt: [tier(1, { gte: 0, lte: 200 }), tier(2, { gt: 200, lt: null })] as never,
          completion: [tier(4, { gte: 0, lte: 200 }), tier(6, { gt: 200, lt: null })] as never,
          input_cache_read: [{ value: 0.1, unit: "perMTokens", currency: "USD" }],
        },
      },
    ]);
    expect(unread).toEqual({ per_request: 1 });
    expect(skipped).toEqual({ "output image": 1, "not a vendor's own API": 1 });
  });
});
