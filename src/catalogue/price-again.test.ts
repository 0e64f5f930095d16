import { describe, expect, test } from "bun:test";
import type { Receipt } from "../canon/receipt.ts";
import type { Catalogue } from "./catalogue.ts";
import { keptPrices } from "./kept-prices.ts";
import type { Model, PriceItem, Pricings } from "./model.ts";
import { priceAgain } from "./price-again.ts";
import { pricingsOfVideo } from "./video-prices.ts";

const item = (value: number, more: Partial<PriceItem> = {}): PriceItem => ({
  value,
  unit: "perMTokens",
  currency: "USD",
  ...more,
});

function again(
  before: Pricings,
  now: Pricings,
  changes: Partial<Receipt> = {},
  on = { terms: [] as string[], discount: 0 },
) {
  const prices = keptPrices({ pricings: before, priceMultiples: { flex: 0.5 }, ...on });
  const receipt = {
    model: "acme/one",
    provider: "host",
    upstreamModel: "one",
    verb: "generate",
    usage: { input: 1_000_000 },
    pricedBy: prices,
    ...changes,
  } as Receipt;
  const offer = { provider: "host", upstreamModel: "one", pricings: now, priceMultiples: { flex: 0.25 } };
  const get = (id: string) => (id === "acme/one" ? ({ offers: [offer] } as unknown as Model) : undefined);
  return priceAgain(receipt, { at: () => ({ get }) as Catalogue }, (id) =>
    id === prices.id ? prices.text : undefined,
  );
}

const OLD: Pricings = { prompt: [item(1)] };
const NEW: Pricings = { prompt: [item(3)] };

describe("trivium reprice: a receipt at current prices", () => {
  test("uses the same usage and terms at their current factors, with the original discount", () => {
    expect(again(OLD, NEW)).toMatchObject({ costNanoUsd: 3_000_000_000, priceRule: "prompt 3 USD/MTok" });
    expect(again(OLD, NEW, {}, { terms: ["flex"], discount: 1000 })).toMatchObject({
      costNanoUsd: 675_000_000,
      priceRule: "prompt 3 USD/MTok, × 0.25 flex, 10% discount",
    });
    expect(again(OLD, OLD)).toMatchObject({ costNanoUsd: 1_000_000_000 });
  });

  test("uses the original resolution and sound", () => {
    const perSecond = { unit: "perSecond" as const };
    const list = (value: number): Pricings => ({
      video: [item(value, perSecond), item(value * 2, { ...perSecond, resolution: "1080p" })],
      audio_and_video: [item(value * 10, perSecond)],
    });
    const chosen = pricingsOfVideo(list(1), { resolution: "1080p", audio: false });
    const made = { verb: "videos" as const, usage: { seconds: 4 } };
    expect(again(chosen, list(2), made)).toMatchObject({ costNanoUsd: 16_000_000_000 });
    const plain = pricingsOfVideo({ video: [item(1, perSecond)] }, { resolution: "720p", audio: false });
    expect(again(plain, list(2), made)).toEqual({
      skipped: "the price depends on the resolution, which was not recorded",
    });
  });

  test.each<[string, Partial<Receipt>, string]>([
    ["of an earlier version", { pricedBy: undefined as never }, "does not record which prices"],
    ["of another model", { model: "acme/gone" }, "no longer configured"],
    ["of another provider", { provider: "gone" }, "no longer configured"],
    ["whose prices are lost", { pricedBy: { id: "x" } }, "no longer stored"],
    ["of several offers", { pricedBy: [1, 2].map(() => ({ prices: { id: "x" }, usage: {} })) }, "different prices"],
  ])("a receipt %s is not priced again", (_name, changes, reason) => {
    expect(again(OLD, NEW, changes)).toEqual({ skipped: expect.stringContaining(reason) });
  });
});
