import { describe, expect, test } from "bun:test";
import type { ToolEntry } from "../canon/billable.ts";
import { keptPrices, readKeptPrices } from "./kept-prices.ts";
import { priceCall } from "./price-call.ts";
import { ToolPrices } from "./tool-prices.ts";

const known = { source: "a price page", date: "2026-11-18" };
const ENTRIES: readonly ToolEntry[] = [
  { name: "search", match: String.raw`search_\d+`, price: { unit: "1k_calls", usd: 2.5 }, assumed: 5, ...known },
  { name: "search", price: { unit: "gb_day", usd: 0.1 }, ...known },
  { name: "box", price: { unit: "session", usd: 0.03 }, ...known },
  { name: "box:4g", price: { unit: "session", usd: 0.12 }, ...known },
  { name: "fetch", price: "free", ...known },
  { name: "advisor", price: "unknown", ...known },
];
const prices = new ToolPrices(ENTRIES);
const cost = (tools: Record<string, number>, from = prices) =>
  priceCall({ tools }, { pricings: {}, toolPrices: from }, []);

describe("decision 0083, H41: a hosted tool is priced, free or unknown", () => {
  test("applies to all of its versions; a variant without a price is unknown", () => {
    expect(prices.find("search_20260101")).toMatchObject({ name: "search", assumed: 5 });
    expect(prices.find("box:4g")?.charges).toEqual([{ unit: "session", usd: 0.12 }]);
    expect(prices.find("fetch")?.charges).toEqual([]);
    for (const name of ["advisor", "hologram", "box:8g", "fetch:all", "search_x", "xsearch_1"])
      expect(prices.find(name)).toBeUndefined();
  });

  test("calls are billed by number, a session once, storage is free, and unknown tools are listed", () => {
    expect(cost({ search: 4 })).toMatchObject({
      costNanoUsd: 10_000_000,
      rule: "nothing used, search 2.5 USD/1k calls",
    });
    expect(cost({ box: 3, fetch: 9 }).costNanoUsd).toBe(30_000_000);
    expect(cost({ advisor: 1, hologram: 2 })).toMatchObject({ costNanoUsd: 0, unpriced: ["advisor", "hologram"] });
  });

  test("decision 0110: storage is billed by tokens and hours, and its prices are kept in a form that older programs refuse", () => {
    const set = new ToolPrices([], [{ name: "cache_storage", unit: "mtok_hour", usd: 4.5 }]);
    const usage = { tools: { cache_storage: 250_000.5 } };
    expect(cost(usage.tools, set)).toMatchObject({
      costNanoUsd: 1_125_002_250,
      rule: "nothing used, cache_storage 4.5 USD/MTok-hour",
    });
    const { text = "" } = keptPrices({ pricings: {}, toolPrices: set, terms: [], discount: 0 }, usage);
    expect(JSON.parse(text)).toMatchObject({ form: 3 });
    expect(priceCall(usage, readKeptPrices(text), []).costNanoUsd).toBe(1_125_002_250);
  });

  test("a configured price replaces the table's, for every version; 0 declares it free", () => {
    const set = new ToolPrices(ENTRIES, [
      { name: "search", unit: "call", usd: 1 },
      { name: "advisor", unit: "call", usd: 0 },
    ]);
    expect(cost({ search_20260101: 2 }, set).costNanoUsd).toBe(2_000_000_000);
    expect(cost({ advisor: 2 }, set).unpriced).toBeUndefined();
  });

  test("a counter that no table knows is unpriced until it is declared free", () => {
    const usage = { unknown: ["usage.foo_tokens"] };
    expect(priceCall(usage, { pricings: {}, toolPrices: prices }, []).unpriced).toEqual(["usage.foo_tokens"]);
    const free = new ToolPrices([], [{ name: "usage.foo_tokens", unit: "call", usd: 0 }]);
    expect(priceCall(usage, { pricings: {}, toolPrices: free }, []).unpriced).toBeUndefined();
  });

  test("the prices stored with a receipt reproduce its cost", () => {
    const usage = { input: 10, tools: { "box:4g": 2, search_20260101: 3, fetch: 1, hologram: 1 } };
    const applied = { pricings: {}, terms: [], discount: 0, toolPrices: prices };
    const { text = "" } = keptPrices(applied, usage);
    const again = priceCall(usage, readKeptPrices(text), []);
    expect(again).toEqual(priceCall(usage, applied, []));
    expect(again.costNanoUsd).toBe(120_000_000 + 7_500_000);
  });
});
