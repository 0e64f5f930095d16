import { describe, expect, test } from "bun:test";
import type { PriceItem } from "../model.ts";
import type { ModelEntry } from "../models-schema.ts";
import { applyUpdates } from "./apply-updates.ts";
import type { ModelPatch } from "./model-patch.ts";
import { planUpdate } from "./plan-update.ts";

const perMillion = (value: number): PriceItem[] => [{ value, unit: "perMTokens", currency: "USD" }];

const ENTRY: ModelEntry = {
  id: "acme/large-2",
  display_name: "Large 2",
  kind: "text",
  upstream_model: "large-2",
  input_modalities: ["text"],
  output_modalities: ["text"],
  reasoning: true,
  rejects_sampling: true,
  context_length: 1_000,
  pricings: { prompt: perMillion(2), completion: perMillion(10) },
};
const KNOWN = new Map([[ENTRY.id, ENTRY]]);

const plan = (models: ModelPatch[], confirmed: string[] = [], known = KNOWN) =>
  planUpdate(known, { source: "a list", asOf: "2026-11-19" }, { models, skipped: {}, unread: {} }, new Set(confirmed));

describe("decision 0097: an update of the catalogue", () => {
  test("changes prices and limits, and leaves everything else of a known model", () => {
    const { changes, patches, held } = plan([
      { id: ENTRY.id, context_length: 2_000, reasoning: false, pricings: { prompt: perMillion(2.5) } },
    ]);
    expect(patches).toEqual([{ id: ENTRY.id, context_length: 2_000, pricings: { prompt: perMillion(2.5) } }]);
    expect(changes.map(({ field }) => field)).toEqual(["context_length", "pricings.prompt"]);
    expect(held).toEqual([]);
  });

  test("H63: is compared with the price of its day, and leaves later prices as they are", () => {
    const later = [{ ...perMillion(4)[0], from: "2026-12-01" }] as PriceItem[];
    const known = new Map([[ENTRY.id, { ...ENTRY, pricings: { prompt: [...perMillion(2), ...later] } }]]);
    expect(plan([{ id: ENTRY.id, pricings: { prompt: perMillion(2) } }], [], known).patches).toEqual([]);
    expect(plan([{ id: ENTRY.id, pricings: { prompt: perMillion(2.5) } }], [], known).patches).toEqual([
      { id: ENTRY.id, pricings: { prompt: [...perMillion(2.5), ...later] } },
    ]);
  });

  test("H63: a day of a list of all vendors ends nothing, and never takes the place of the vendor's own", () => {
    const listed = [{ id: ENTRY.id, retires_after: "2026-12-24" }];
    expect(plan(listed).patches).toEqual(listed);
    const stated = { ...ENTRY, retires_on: "2027-01-01", retirement: { source: "the vendor", date: "2026-11-01" } };
    expect(plan(listed, [], new Map([[ENTRY.id, stated]])).patches).toEqual([]);
  });

  test("finds a model by its name at the vendor, whatever its case", () => {
    const { patches } = plan([{ id: "acme/other", upstream_model: "LARGE-2", context_length: 5_000 }]);
    expect(patches).toEqual([{ id: ENTRY.id, context_length: 5_000 }]);
  });

  test.each([
    ["falls to half", 1, false],
    ["falls by more than half", 0.99, true],
    ["rises by half", 3, false],
    ["rises by more than half", 3.01, true],
    ["becomes free", 0, true],
  ])("a price that %s is held back until it is confirmed: %#", (_, value, isHeld) => {
    const listed = [{ id: ENTRY.id, pricings: { prompt: perMillion(value) } }];
    expect(plan(listed).held.length).toBe(isHeld ? 1 : 0);
    expect(plan(listed).patches.length).toBe(isHeld ? 0 : 1);
    expect(plan(listed, [ENTRY.id]).patches.length).toBe(1);
  });

  test("a price is held back if only long prompts become more expensive, or its unit changes", () => {
    const tiers: PriceItem[] = [
      {
        value: 2,
        unit: "perMTokens",
        currency: "USD",
        conditions: { prompt_tokens: { unit: "kTokens", gte: 0, lte: 200 } },
      },
      {
        value: 4,
        unit: "perMTokens",
        currency: "USD",
        conditions: { prompt_tokens: { unit: "kTokens", gt: 200, lt: null } },
      },
    ];
    expect(plan([{ id: ENTRY.id, pricings: { prompt: tiers } }]).held.length).toBe(1);
    const perCall: PriceItem[] = [{ value: 2, unit: "perCount", currency: "USD" }];
    expect(plan([{ id: ENTRY.id, pricings: { prompt: perCall } }]).held.length).toBe(1);
  });

  test("the first price of an unpriced model is not a move", () => {
    const unpriced = new Map([[ENTRY.id, { ...ENTRY, pricings: {} }]]);
    const { held, patches } = plan([{ id: ENTRY.id, pricings: { prompt: perMillion(90) } }], [], unpriced);
    expect([held.length, patches.length]).toEqual([0, 1]);
  });

  test("a new model of a known family takes its traits, and never its price", () => {
    const listed: ModelPatch = {
      id: "acme/large-3",
      upstream_model: "large-3",
      kind: "text",
      input_modalities: ["text"],
      output_modalities: ["text"],
    };
    const { added, patches } = plan([listed]);
    expect(added).toEqual([{ model: "acme/large-3", family: ENTRY.id, priced: false }]);
    expect(patches).toEqual([{ ...listed, display_name: "large-3", rejects_sampling: true }]);
  });

  test("does not add image and video models, which need an adapter", () => {
    expect(plan([{ id: "acme/picture-1", kind: "image", pricings: { image: perMillion(1) } }]).patches).toEqual([]);
  });

  test("the digest follows from source and values alone", () => {
    const one = plan([{ id: ENTRY.id, context_length: 2_000, pricings: { prompt: perMillion(3) } }]);
    const same = plan([{ pricings: { prompt: perMillion(3) }, context_length: 2_000, id: ENTRY.id }]);
    const other = plan([{ id: ENTRY.id, context_length: 2_001, pricings: { prompt: perMillion(3) } }]);
    expect(one.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(same.digest).toBe(one.digest);
    expect(other.digest).not.toBe(one.digest);
  });
});

describe("decision 0097: updates in force", () => {
  const id = "openai/gpt-5";
  const of = (number: number, models: ModelPatch[]) => ({
    number,
    appliedAtMs: 0,
    source: `list ${number}`,
    asOf: `2026-11-0${number}`,
    digest: "",
    models,
  });

  test("a later update wins, value by value, and each value keeps its source", () => {
    const { entries, sources, models } = applyUpdates([
      of(1, [{ id, context_length: 1, pricings: { prompt: perMillion(7) } }]),
      of(2, [{ id, pricings: { completion: perMillion(8) } }]),
    ]);
    const { pricings, context_length } = entries.get(id) ?? ENTRY;
    expect([pricings.prompt, pricings.completion, context_length]).toEqual([perMillion(7), perMillion(8), 1]);
    expect(pricings.input_cache_read).toBeDefined();
    expect(sources.get(id)?.get("pricings.prompt")).toEqual({ source: "list 1", asOf: "2026-11-01" });
    expect(sources.get(id)?.get("pricings.completion")).toEqual({ source: "list 2", asOf: "2026-11-02" });
    expect(models.find((model) => model.id === id)?.pricings.prompt).toEqual(perMillion(7));
  });

  test("a new model that lacks what every model has is left out", () => {
    expect(applyUpdates([of(1, [{ id: "acme/half" }])]).entries.has("acme/half")).toBe(false);
  });
});
