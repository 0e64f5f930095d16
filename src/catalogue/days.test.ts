import { describe, expect, test } from "bun:test";
import { buildCatalogue, type ModelOverlay } from "./catalogue.ts";
import { daysUntil, pricingsAt } from "./days.ts";
import type { PriceItem } from "./model.ts";

const item = (value: number, from?: string): PriceItem => ({
  value,
  unit: "perMTokens",
  currency: "USD",
  ...(from && { from }),
});
const at = (moment: string): number => Date.parse(`${moment}Z`);
const google = { name: "gemini", publishers: ["google"] };
const elsewhere = { name: "azure", publishers: [] };
const catalogueAt = (moment: string, models: ModelOverlay[] = []) =>
  buildCatalogue({ providers: [google, elsewhere], models, atMs: at(moment) });

describe("H63: a price changes on a day", () => {
  test("the one of the latest day that has come holds, from midnight UTC on, and no list shows its day", () => {
    const pricings = { prompt: [item(2), item(4, "2026-12-01"), item(6, "2027-01-01")], completion: [item(9)] };
    expect(pricingsAt(pricings, at("2026-11-30T23:59:59.999"))).toEqual({ prompt: [item(2)], completion: [item(9)] });
    expect(pricingsAt(pricings, at("2026-12-01T00:00:00"))).toEqual({ prompt: [item(4)], completion: [item(9)] });
    expect(pricingsAt(pricings, at("2027-06-01T00:00:00"))).toEqual({ prompt: [item(6)], completion: [item(9)] });
  });

  test("before its first day it is unknown, and never free", () => {
    const offers = [{ provider: "azure", model: "one", pricings: { prompt: [item(4, "2026-12-01")] } }];
    const before = catalogueAt("2026-11-30T12:00:00", [{ id: "acme/one", offers }]).get("acme/one");
    expect(before?.offers[0]?.pricings).toEqual({});
  });

  test("a catalogue is that of its time, and gives the one of another time", () => {
    const now = catalogueAt("2026-11-19T12:00:00");
    const priceOf = (moment: string) => now.at(at(moment)).get("google/gemini-4-argon")?.offers[0]?.pricings.prompt;
    expect(priceOf("2026-11-30T23:59:59.999")?.[0]?.value).toBe(2);
    expect(priceOf("2026-12-01T00:00:00")?.[0]?.value).toBe(4);
    expect(now.at(at("2026-11-20T00:00:00"))).toBe(now);
    expect(
      now.at(at("2026-12-01T00:00:00")).at(at("2026-11-19T00:00:00")).get("google/gemini-2.5-flash"),
    ).toBeDefined();
  });
});

describe("H63: a model ends on a day", () => {
  const find = (moment: string, name: string, models: ModelOverlay[] = []) =>
    catalogueAt(moment, models).resolve(name, { vendorNames: true, impliedPublisher: "google" }).model;

  test("until midnight UTC it is served; then 404 names the one that takes its place, under each of its names", () => {
    expect(find("2026-11-30T23:59:59.999", "gemini-2.5-flash").retiresOn).toBe("2026-12-01");
    for (const name of [
      "gemini-2.5-flash",
      "models/gemini-2.5-flash",
      "google/gemini-2.5-flash",
      "gemini-2.5-flash:gemini",
    ])
      expect(() => find("2026-12-01T00:00:00", name)).toThrow(
        "was retired by its provider on 2026-12-01. Use google/gemini-3.5-flash-lite in its place.",
      );
    expect(catalogueAt("2026-12-01T00:00:00").get("google/gemini-2.5-flash")).toBeUndefined();
  });

  test("an offer of its own goes on, until its own day; a model that is only named does not", () => {
    const own = (retiresOn?: string): ModelOverlay[] => [
      {
        id: "google/gemini-2.5-flash",
        offers: [{ provider: "azure", model: "ours", ...(retiresOn && { retiresOn }) }],
      },
    ];
    const going = find("2027-03-01T00:00:00", "gemini-2.5-flash", own());
    expect(going.retiresOn).toBeUndefined();
    expect(going.offers.map(({ provider }) => provider)).toEqual(["azure"]);
    expect(find("2027-03-01T00:00:00", "gemini-2.5-flash", own("2027-05-01")).retiresOn).toBe("2027-05-01");
    expect(() => find("2027-05-01T00:00:00", "gemini-2.5-flash", own("2027-05-01"))).toThrow("retired");
    expect(() =>
      find("2026-12-01T00:00:00", "gemini-2.5-flash", [{ id: "google/gemini-2.5-flash", quality: 3 }]),
    ).toThrow("retired");
  });

  test("`retires_after` ends nothing: it is the earliest day, and no last one", () => {
    const model = find("2028-01-01T00:00:00", "gemini-2.5-flash-image");
    expect([model.retiresAfter, model.retiresOn]).toEqual(["2026-10-02", undefined]);
  });

  test("days are counted until the day begins", () => {
    expect(daysUntil("2026-12-01", at("2026-11-19T18:00:00"))).toBe(12);
    expect(daysUntil("2026-12-01", at("2026-11-30T23:59:59"))).toBe(1);
    expect(daysUntil("2026-12-01", at("2026-12-01T00:00:00"))).toBe(0);
  });
});
