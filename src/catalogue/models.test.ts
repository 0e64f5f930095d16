import { describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { EFFORTS } from "../canon/reasoning.ts";
import { builtInModels } from "./built-in-models.ts";
import { pricingsAt } from "./days.ts";
import { MODEL_KINDS, type ModelKind, type PriceItem, type Pricings } from "./model.ts";
import file from "./models.json";
import { ModelEntry, ModelsFile } from "./models-schema.ts";

const NOW = Date.UTC(2026, 10, 19);

/** Prices before and after every change that is announced. */
const bothTimes = (pricings: Pricings): PriceItem[][] =>
  [NOW, Date.UTC(2030, 0, 1)].flatMap((ms) => Object.values(pricingsAt(pricings, ms)));

describe("models.json", () => {
  test("every model is valid, every id is unique, and there are 221", () => {
    const entry = Compile(ModelEntry);
    for (const model of file.models) {
      expect({ id: model.id, errors: entry.Errors(model) }).toEqual({ id: model.id, errors: [] });
    }
    expect(Compile(ModelsFile).Check(file)).toBe(true);
    expect(file.models).toHaveLength(221);
    expect(new Set(file.models.map((model) => model.id)).size).toBe(221);
  });

  test("choices 6: every text model has a rank of quality, and no other has one", () => {
    for (const { id, kind, quality } of builtInModels) {
      expect({ id, ranked: quality !== undefined }).toEqual({ id, ranked: kind === "text" });
    }
  });

  test("the schema refuses invalid entries", () => {
    const entry = Compile(ModelEntry);
    const [model] = file.models;
    expect(entry.Check({ ...model, _meta: {} })).toBe(false);
    expect(entry.Check({ ...model, id: "a/b/c" })).toBe(false);
    expect(entry.Check({ ...model, efforts: ["none"] })).toBe(false);
    expect(entry.Check({ ...model, pricings: { promt: [] } })).toBe(false);
    const second = { value: 1, unit: "perSecond", currency: "USD" };
    expect(entry.Check({ ...model, pricings: { video: [{ ...second, resolution: "1080p" }] } })).toBe(true);
    expect(entry.Check({ ...model, pricings: { video: [{ ...second, resolution: "1080" }] } })).toBe(false);
    expect(entry.Check({ ...model, pricings: { video: [{ ...second, chosenFor: "1080p" }] } })).toBe(false);
    expect(entry.Check({ ...model, pricings: { prompt: [{ value: 1, unit: "perMTokens", currency: "EUR" }] } })).toBe(
      false,
    );
  });

  test("fields are in one order, so that a diff shows real changes only", () => {
    const order = Object.keys(ModelEntry.properties);
    for (const model of file.models) {
      expect(Object.keys(model)).toEqual(order.filter((name) => Object.hasOwn(model, name)));
    }
  });

  test("contract 2.9: tiers follow each other without a gap or an overlap, the last without an end", () => {
    let tiered = 0;
    for (const model of builtInModels) {
      for (const all of bothTimes(model.pricings)) {
        const items = all.filter((item) => item.resolution === undefined);
        const ranges = items.map((item) => item.conditions?.prompt_tokens);
        if (ranges.every((range) => range === undefined)) {
          expect(items).toHaveLength(1);
          continue;
        }
        tiered++;
        ranges.forEach((range, index) => {
          const where = `${model.id} ${index}`;
          // Publishers write "≤ 200k" and "> 200k": the bound itself belongs to the lower tier.
          if (index === 0) expect({ where, gte: range?.gte }).toEqual({ where, gte: 0 });
          else expect({ where, gt: range?.gt }).toEqual({ where, gt: ranges[index - 1]?.lte });
        });
        expect(ranges.at(-1)?.lt).toBeNull();
      }
    }
    expect(tiered).toBeGreaterThan(50);
  });

  test("a price of one resolution follows the plain one, is of its unit, differs from it, and is in the note", () => {
    const noted: string[] = [];
    for (const { id, pricings, priceNote = "" } of builtInModels) {
      const numbers = new Set(priceNote.match(/\d+(\.\d+)?/g)?.map(Number));
      for (const [name, items] of Object.entries(pricingsAt(pricings, NOW)) as [string, PriceItem[]][]) {
        const [plain, ...others] = items;
        expect({ id, name, resolution: plain?.resolution }).toEqual({ id, name, resolution: undefined });
        const resolutions = others.flatMap(({ resolution }) => (resolution === undefined ? [] : [resolution]));
        expect({ id, name, once: new Set(resolutions).size }).toEqual({ id, name, once: resolutions.length });
        const special = items.filter((item) => item.resolution !== undefined || name === "image_input");
        for (const item of special) {
          const where = `${id} ${name} ${item.resolution ?? ""} ${item.value}`;
          if (item !== plain) {
            expect({ where, unit: item.unit }).toEqual({ where, unit: plain?.unit ?? item.unit });
            expect({ where, differs: item.value !== plain?.value }).toEqual({ where, differs: true });
          }
          expect({ where, noted: numbers.has(item.value) }).toEqual({ where, noted: true });
          noted.push(where);
        }
      }
    }
    expect(noted).toHaveLength(38);
  });

  test("there are 38 models for images and 19 for videos, and they say what they take and make", () => {
    const kinds = Object.fromEntries(MODEL_KINDS.map((kind) => [kind, 0])) as Record<ModelKind, number>;
    for (const { id, kind, inputModalities, outputModalities } of builtInModels) {
      kinds[kind]++;
      if (kind !== "image" && kind !== "video") continue;
      expect({ id, inputModalities }).toEqual({ id, inputModalities: expect.arrayContaining(["text"]) });
      expect({ id, outputModalities }).toEqual({ id, outputModalities: expect.arrayContaining([kind]) });
    }
    expect(kinds).toEqual({
      image: 38,
      video: 19,
      text: 126,
      embedding: 22,
      rerank: 4,
      speech: 5,
      transcription: 6,
      moderation: 1,
    });
    const retiring = builtInModels.filter(({ id }) => id.startsWith("google/imagen-")).map((model) => model.retiresOn);
    expect(retiring).toEqual(Array(4).fill("2026-08-17"));
  });

  test("H63: whoever has an end has its source and day, and its replacement is a model of the catalogue that outlives it", () => {
    const byId = new Map(builtInModels.map((model) => [model.id, model]));
    let ending = 0;
    for (const { id, retiresOn, retiresAfter, replacedBy, retirement } of builtInModels) {
      if (retiresOn !== undefined && retiresAfter !== undefined) throw new Error(`${id} has two ends`);
      const next = replacedBy === undefined ? undefined : byId.get(replacedBy);
      if (replacedBy !== undefined && next === undefined) throw new Error(`${id}: ${replacedBy} is no model`);
      if (next?.retiresOn !== undefined && retiresOn !== undefined)
        expect({ id, outlived: next.retiresOn > retiresOn }).toEqual({ id, outlived: true });
      if (retiresOn === undefined && retiresAfter === undefined)
        expect({ id, replacedBy }).toEqual({ id, replacedBy: undefined });
      else if (retirement !== undefined) ending++;
    }
    expect(ending).toBeGreaterThan(40);
    expect(byId.get("google/gemini-2.5-flash")).toMatchObject({
      retiresOn: "2026-12-01",
      replacedBy: "google/gemini-3.5-flash-lite",
    });
  });

  test("models that embed texts or rank documents have the one price that they are billed by", () => {
    for (const { id, kind, outputModalities, pricings } of builtInModels) {
      if (kind !== "embedding" && kind !== "rerank") continue;
      expect({ id, outputModalities }).toEqual({ id, outputModalities: [kind === "rerank" ? "rerank" : "embeddings"] });
      const unit = pricings.search_unit === undefined ? "perMTokens" : "perCount";
      expect({ id, prices: Object.values(pricings).flat() }).toEqual({
        id,
        prices: [{ value: expect.any(Number), unit, currency: "USD" }],
      });
    }
  });

  test("the fields about reasoning are consistent", () => {
    for (const { id, reasoning, traits = {} } of builtInModels) {
      const { reasoningForm, efforts, budget } = traits;
      const amounts = [efforts, budget].filter((one) => one !== undefined);
      expect({ id, amounts: amounts.length }).toEqual({ id, amounts: reasoningForm === undefined ? 0 : 1 });
      expect({ id, budgeted: budget !== undefined }).toEqual({ id, budgeted: reasoningForm === "budget" });
      if (reasoningForm !== undefined) expect({ id, reasoning }).toEqual({ id, reasoning: true });
      if (budget) expect({ id, ordered: budget.min < budget.max }).toEqual({ id, ordered: true });
      // The nearest effort is looked for from the weakest up.
      expect({ id, efforts }).toEqual({ id, efforts: efforts && EFFORTS.filter((effort) => efforts.includes(effort)) });
    }
  });

  test("the program's fields of an entry have their own names", () => {
    const byId = new Map(builtInModels.map((model) => [model.id, model]));
    expect(byId.get("anthropic/claude-opus-5")).toMatchObject({
      displayName: "Claude Opus 5",
      upstreamModel: "claude-opus-5",
      kind: "text",
      created: "2026-07-24",
      contextLength: 1000000,
      maxOutputTokens: 128000,
      traits: { reasoningForm: "adaptive", rejectsSampling: true, prefill: false },
    });
    expect(byId.get("x-ai/grok-code-fast-1")?.retiresOn).toBe("2026-05-15");
    expect(byId.get("klingai/kling-image-v3")).toMatchObject({ upstreamModel: "kling-v3", kind: "image" });
    expect(byId.get("klingai/kling-v3")?.priceNote).toContain("1080p");
  });
});
