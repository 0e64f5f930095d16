import { describe, expect, test } from "bun:test";
import type { ModelTraits } from "../canon/traits.ts";
import { buildCatalogue, type ModelOverlay } from "./catalogue.ts";
import { publisherOf } from "./model.ts";
import { traitsOf } from "./offer-traits.ts";

/** The traits of a model as the catalogue offers it, with its configuration. */
function traits(id: string, overlay?: Omit<ModelOverlay, "id">): ModelTraits {
  const catalogue = buildCatalogue({
    providers: [{ name: "host", publishers: [publisherOf(id)] }],
    models: overlay ? [{ id, ...overlay }] : [],
  });
  const { model, offers } = catalogue.resolve(id);
  const [offer] = offers;
  if (offer === undefined) throw new Error(`${id} has no offer`);
  return traitsOf(model, offer);
}

describe("mapping 1: which form a model takes is catalogue data", () => {
  test("adaptive thinking with its efforts on the newest, a budget below the output limit on the older", () => {
    expect(traits("anthropic/claude-opus-4-7")).toEqual({
      reasoning: true,
      reasoningForm: "adaptive",
      efforts: ["off", "low", "medium", "high", "xhigh", "max"],
      rejectsSampling: true,
      mediaInToolResults: true,
      structuredOutput: true,
      prefill: false,
      maxOutputTokens: 128000,
    });
    expect(traits("anthropic/claude-sonnet-4-6")).not.toHaveProperty("rejectsSampling");
    expect(traits("anthropic/claude-sonnet-4-6").efforts).not.toContain("xhigh");
    expect(traits("anthropic/claude-opus-4-1")).toMatchObject({
      reasoningForm: "budget",
      budget: { min: 1024, max: 31999, off: true },
      prefill: true,
      maxOutputTokens: 32000,
    });
  });

  test("budgets before the third generation, levels and signatures from it on", () => {
    expect(traits("google/gemini-2.5-pro").budget).toEqual({ min: 128, max: 32768, off: false });
    expect(traits("google/gemini-2.5-flash").budget).toEqual({ min: 1, max: 24576, off: true });
    expect(traits("google/gemini-2.5-flash-lite").budget).toEqual({ min: 512, max: 24576, off: true });
    expect(traits("google/gemini-2.5-pro")).not.toHaveProperty("demandsSignatures");
    expect(traits("google/gemini-3-flash-preview")).toMatchObject({
      reasoningForm: "level",
      efforts: ["minimal", "low", "medium", "high"],
      demandsSignatures: true,
      mediaInToolResults: true,
    });
    expect(traits("google/gemini-2.5-pro")).not.toHaveProperty("schemaBesideTools");
    expect(traits("google/gemini-3.5-flash").schemaBesideTools).toBe(true);
    expect(traits("google/gemini-3.1-pro-preview").efforts).toEqual(["low", "medium", "high"]);
  });

  test("efforts differ from model to model, and reasoning models refuse sampling and stop sequences", () => {
    expect(traits("openai/gpt-5").efforts).toEqual(["minimal", "low", "medium", "high"]);
    expect(traits("openai/gpt-5.6").efforts).toEqual(["off", "low", "medium", "high", "xhigh"]);
    for (const id of ["openai/gpt-5", "openai/o3", "openai/o4-mini"]) {
      expect(traits(id)).toMatchObject({ rejectsSampling: true, rejectsStop: true });
    }
    expect(traits("openai/gpt-4.1")).toEqual({ reasoning: false, structuredOutput: true, maxOutputTokens: 32768 });
    expect(traits("deepseek/deepseek-v4-pro").efforts).toEqual(["off", "high", "max"]);
  });
});

describe("choices 7: the configuration overrides the catalogue", () => {
  test("a model that is only in the configuration has its reasoning and its limit, and nothing else", () => {
    expect(traits("acme/llama", { reasoning: true })).toEqual({ reasoning: true });
    expect(traits("acme/llama", { maxOutputTokens: 100 })).toEqual({ reasoning: false, maxOutputTokens: 100 });
  });

  test("an offer's own limit overrides the model's", () => {
    const offers = [{ provider: "host", model: "gpt-5", maxOutputTokens: 4096 }];
    expect(traits("openai/gpt-5", { offers }).maxOutputTokens).toBe(4096);
  });

  test("a known model that is configured not to reason accepts no reasoning effort, and keeps its other traits", () => {
    expect(traits("openai/gpt-5", { reasoning: false })).toEqual({
      reasoning: false,
      rejectsSampling: true,
      rejectsStop: true,
      structuredOutput: true,
      bestDialect: "responses",
      maxOutputTokens: 128000,
    });
  });
});
