import { describe, expect, test } from "bun:test";
import type { CatalogueModel } from "../api/types.ts";
import { findModels } from "../parts/model-picker.tsx";
import { priceAges } from "../state/price-ages.ts";
import { type Answer, costSoFar, inCode, pastOf, type Turn, withAnswer } from "./conversation.ts";
import { promptLabel, settingsFor } from "./settings.ts";

type Offer = CatalogueModel["offers"][number];

const price = (value: number, days: number | null = 3): Offer["prices"][string] => ({
  value,
  unit: "perMTokens",
  more: false,
  origin: "built-in",
  source: "built-in",
  as_of: days === null ? null : `2026-11-${10 + days}`,
  days,
});

const model = (id: string, prices: Offer["prices"] = {}, kind = "text"): CatalogueModel => ({
  id,
  aliases: [],
  display_name: id,
  kind,
  created: null,
  context_length: null,
  max_output_tokens: null,
  input_modalities: ["text"],
  output_modalities: ["text"],
  reasoning: false,
  quality: null,
  retires_on: null,
  retires_in_days: null,
  retires_after: null,
  replaced_by: null,
  retirement: null,
  priced: Object.keys(prices).length > 0,
  offers: [
    {
      provider: "acme",
      upstream_model: id,
      dialect: null,
      weight: null,
      traits: null,
      priced: Object.keys(prices).length > 0,
      measured: null,
      prices,
    },
  ],
  measured: null,
  origins: {},
  as_of: {},
  sources: {},
});

const answer = (text: string): Answer => ({
  model: "a/b",
  receipt: undefined,
  sent: 0,
  progress: {
    ...{ state: "done", error: "", raw: [], receipt: undefined, firstMs: undefined, totalMs: undefined },
    ...{ percent: undefined, videos: [], sound: undefined, text, thinking: "", images: [] },
  },
});

describe("a conversation with two models", () => {
  const turn = (id: number): Turn => ({ id, prompt: `question ${id}`, attached: [], answers: {} });

  test("each knows its own answers only", () => {
    const turns = withAnswer(withAnswer([turn(1), turn(2)], 1, "model", answer("one")), 1, "model2", answer("two"));
    expect(pastOf(turns, "model").map((past) => past.answer)).toEqual(["one", ""]);
    expect(pastOf(turns, "model2").map((past) => past.answer)).toEqual(["two", ""]);
    expect(withAnswer(turns, 9, "model", answer("lost"))).toEqual([...turns]);
  });

  test("the code has the last prompt while the next one is not written yet", () => {
    const sent = { ...turn(2), attached: [{ name: "a.png", type: "image/png", base64: "AAAA" }] };
    const settings: Parameters<typeof inCode>[0] = {
      prompt: "",
      attached: [],
      history: pastOf([turn(1), sent], "model"),
    };
    const shown = inCode(settings, [turn(1), sent]);
    expect(shown).toEqual({ prompt: "question 2", attached: sent.attached, history: pastOf([turn(1)], "model") });
    const written = { ...settings, prompt: "next" };
    expect(inCode(written, [turn(1), sent])).toBe(written);
  });

  test("the code never has an empty message, also for images and edited requests", () => {
    const image = { prompt: " ", attached: [], history: [] };
    expect(inCode(image, [turn(1)])).toMatchObject({ prompt: "question 1", history: [] });
    expect(inCode(image, [turn(1), { ...turn(2), prompt: "" }]).prompt).toBe("question 1");
    expect(inCode(image, []).prompt).toBe("Hello");
  });

  test("costs about what its text costs, and nothing is said without a price", () => {
    const priced = model("a/b", { prompt: price(1), completion: price(10) });
    // 1,000 tokens at $1 and 100 at $10, each per million.
    expect(costSoFar(priced, 4_000, 400)).toBe(2_000_000);
    expect(costSoFar(model("a/b"), 4_000, 400)).toBeUndefined();
    expect(costSoFar(undefined, 4_000, 400)).toBeUndefined();
  });
});

describe("settings of the playground", () => {
  test("are those of the kinds of models, each once", () => {
    expect(settingsFor(["text", "image", "text"]).map(({ name }): string => name)).toEqual([
      ...["system", "maxTokens", "temperature", "stream"],
      ...["count", "size", "quality"],
    ]);
    expect(settingsFor(["image"]).some(({ name }) => name === "temperature")).toBe(false);
    expect(settingsFor(["moderation"])).toEqual([]);
    expect([promptLabel(["rerank"]), promptLabel(["text", "rerank"])]).toEqual([
      "Query, then a document on each line",
      "Prompt",
    ]);
  });
});

describe("the search for models", () => {
  const models = ["openai/gpt-5-mini", "acme/mini", "acme/other"].map((id) => model(id));

  test("finds every word in any order, and names that begin with the text first", () => {
    expect(findModels(models, "mini").map(({ id }) => id)).toEqual(["acme/mini", "openai/gpt-5-mini"]);
    expect(findModels(models, "MINI gpt").map(({ id }) => id)).toEqual(["openai/gpt-5-mini"]);
    expect(findModels(models, "acme").length).toBe(3);
    expect(findModels(models, "nothing")).toEqual([]);
  });
});

describe("the ages of prices", () => {
  test("count each price of each offer, and find the oldest and what has none", () => {
    const ages = priceAges([
      model("a/new", { prompt: price(1, 1), completion: price(2, 1) }),
      model("a/old", { prompt: price(1, 9) }),
      model("a/none"),
      model("a/undated", { prompt: price(1, null) }),
    ]);
    expect(ages).toMatchObject({
      prices: 4,
      oldest: { model: "a/old", days: 9 },
      unpriced: [{ model: "a/none", provider: "acme" }],
    });
    expect(ages.sources.map(({ prices }) => prices)).toEqual([2, 1, 1]);
    expect(priceAges([])).toMatchObject({ prices: 0, oldest: undefined });
  });
});
