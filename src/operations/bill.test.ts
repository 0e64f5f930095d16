import { describe, expect, test } from "bun:test";
import type { Operation } from "../canon/operation.ts";
import type { PricedPart } from "../canon/receipt.ts";
import { discounted } from "../catalogue/discounted.ts";
import { costAt, readKeptPrices } from "../catalogue/kept-prices.ts";
import { expectedCostOf, operationBill, receiptOf } from "./bill.ts";
import { Bench, COST_NANO_USD, KEPT, waitingPart } from "./process.sample.ts";

const bench = await Bench.open();
const price = (value: number) => [{ value, unit: "perSecond", currency: "USD" }];
const PRICINGS = { video: price(0.01), audio_and_video: price(0.02) };

const ended = (parts: Operation["parts"], job: Partial<Operation["job"]> = {}): Operation => {
  const operation = bench.operation({ parts, state: "done" });
  return { ...operation, job: { ...operation.job, pricings: PRICINGS, ...job } };
};
const made = (count: number) => waitingPart({ state: "done", videos: Array.from({ length: count }, () => KEPT) });

describe("contract 2.9: the bill of an operation", () => {
  test("is the seconds of the generated videos", () => {
    expect(operationBill(ended([made(1), made(2), waitingPart({ state: "failed" })]))).toMatchObject({
      usage: { seconds: 15 },
      costNanoUsd: 3 * COST_NANO_USD,
      priceRule: "video 0.01 USD/s",
    });
  });

  test("is zero if none was generated", () => {
    const nothing = { usage: {}, costNanoUsd: 0, priceRule: "nothing used" };
    expect(operationBill(ended([waitingPart({ state: "failed" })]))).toEqual(nothing);
    expect(operationBill(ended([]))).toEqual(nothing);
  });

  test("follows the provider's report, if there is one, part by part", () => {
    const reported = { ...made(1), seconds: 8, audio: true };
    expect(operationBill(ended([reported, made(1)]))).toMatchObject({
      usage: { seconds: 13 },
      costNanoUsd: 8 * 20_000_000 + 5 * 10_000_000,
      priceRule: "audio_and_video 0.02 USD/s; video 0.01 USD/s",
    });
  });

  test("keeps the prices of each part, which reproduce its cost; a discount applies to each", () => {
    for (const discount of [0, 3_333]) {
      const bill = operationBill(ended([{ ...made(1), seconds: 8, audio: true }, made(1)], { discount }));
      const parts = bill.pricedBy as readonly PricedPart[];
      const costs = parts.map(({ usage, prices }) => costAt(usage, readKeptPrices(prices.text ?? "")));
      expect(parts.map(({ usage }) => usage)).toEqual([{ seconds: 8 }, { seconds: 5 }]);
      expect(costs.reduce((sum, cost) => sum + cost)).toBe(bill.costNanoUsd);
      expect(bill.costNanoUsd).toBe(discounted(160_000_000, discount) + discounted(50_000_000, discount));
    }
    const one = operationBill(ended([made(1)])).pricedBy;
    expect(one).toMatchObject({ id: expect.any(String), text: expect.any(String) });
  });

  test("H23: the reservation is at least the bill, however the parts are rounded", () => {
    const third = { video: price(0.000_000_003) } as Operation["job"]["pricings"];
    for (const discount of [1, 3_333, 9_999]) {
      const job = { pricings: third, discount, count: 3 };
      expect(expectedCostOf(ended([], job))).toBeGreaterThanOrEqual(
        operationBill(ended([made(1), made(1), made(1)], job)).costNanoUsd,
      );
    }
  });

  test("follows the actual resolution", () => {
    const pricings = {
      video: [...price(0.01), { ...price(0.05)[0], resolution: "1080p" }],
    } as Operation["job"]["pricings"];
    const costAt = (resolution: string) => operationBill(ended([{ ...made(1), resolution }], { pricings })).costNanoUsd;
    expect([costAt("720p"), costAt("1080p")]).toEqual([COST_NANO_USD, 5 * COST_NANO_USD]);
    expect(operationBill(ended([made(1)], { pricings, resolution: "1080p" })).costNanoUsd).toBe(5 * COST_NANO_USD);
  });

  test("decision 0019: includes videos that were generated and could not be stored, and counts none twice", () => {
    const unkept = { kind: "overloaded" as const, message: "full" };
    expect(operationBill(ended([waitingPart({ unkept: { ...unkept, made: 2 } })])).costNanoUsd).toBe(2 * COST_NANO_USD);
    expect(operationBill(ended([{ ...made(1), unkept: { ...unkept, made: 2 } }])).costNanoUsd).toBe(2 * COST_NANO_USD);
  });

  test("is estimated for everything that was requested", () => {
    expect(expectedCostOf(ended([], { count: 3 }))).toBe(3 * COST_NANO_USD);
    expect(expectedCostOf(ended([], { count: 3, audio: true }))).toBe(6 * COST_NANO_USD);
  });
});

describe("the receipt of an operation", () => {
  test("has the date of its request, and the duration of the operation", () => {
    const operation = ended([made(1)]);
    const { id, createdAtMs, totalMs, outcome, stream } = receiptOf(operation, operation.createdAtMs + 90_000);
    expect({ id, createdAtMs, totalMs, outcome, stream }).toEqual({
      id: "rcp_1",
      createdAtMs: operation.createdAtMs,
      totalMs: 90_000,
      outcome: "ok",
      stream: false,
    });
  });

  test("H30: never has a negative duration, whatever the clocks show", () => {
    const operation = ended([made(1)]);
    expect(receiptOf(operation, operation.createdAtMs - 5).totalMs).toBe(0);
  });

  test("has the kind of its failure", () => {
    const failed = { ...ended([]), error: { kind: "upstream_timeout", message: "late" } } as Operation;
    expect(receiptOf(failed, failed.createdAtMs).outcome).toBe("upstream_timeout");
  });
});
