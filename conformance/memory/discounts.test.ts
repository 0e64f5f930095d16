import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Discount, Discounts } from "../../src/access/discounts.ts";
import { discounted } from "../../src/catalogue/discounted.ts";
import { costAt, readKeptPrices } from "../../src/catalogue/kept-prices.ts";
import { selectReceipt } from "../../src/storage/receipts/receipts.ts";
import { selectPrices } from "../../src/storage/tables/prices.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const INPUT = 101;
const OUTPUT = 53;
/** At one dollar per million prompt tokens, and two per million output tokens. */
const LISTED_NANO_USD = INPUT * 1_000 + OUTPUT * 2_000;
const POOR_KEY = "a-key-of-the-configuration-with-a-budget";

let harness: Harness;
let discounts: readonly Discount[] = [];
beforeAll(async () => {
  harness = await Harness.start({
    config: {
      ...scriptedModels(UPSTREAM_URL),
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "poor", key: POOR_KEY, limits: { budget_usd_per_day: 0.0003 } },
      ],
    },
  });
  const { keys } = harness.gateway;
  keys.identify = (...given) => ({ ...keys.authenticate(...given), discounts: new Discounts(discounts) });
});
beforeEach(() => {
  const usage = plainUsage("chat", INPUT, OUTPUT);
  harness.upstream.play(harness.upstream.json(plainAnswer("chat", { text: "hi", usage })));
});

const body = { model: "test/chat", messages: [{ role: "user", content: "hi" }], usage: { include: true } };

describe("a project's discount", () => {
  test.each<[string, Discount[], number]>([
    ["for all", [{ basis_points: 1_234 }], 1_234],
    ["for the provider", [{ basis_points: 1 }, { provider: "up-chat", basis_points: 2_500 }], 2_500],
    [
      "for models",
      [
        { provider: "up-chat", basis_points: 1 },
        { model: "test/*", basis_points: 9_999 },
      ],
      9_999,
    ],
    ["for another provider", [{ provider: "up-genai", basis_points: 2_500 }], 0],
  ])("%s: the response, the receipt and its stored prices agree", async (_name, given, points) => {
    discounts = given;
    const answer = await harness.post("/api/v1/chat/completions", body);
    const cost = discounted(LISTED_NANO_USD, points);
    expect((JSON.parse(answer.text) as { usage: { cost: number } }).usage.cost).toBe(cost / 1e9);
    const shown = await harness.receipt(answer);
    expect(shown.cost_nano_usd).toBe(cost);
    expect(shown.price_rule.includes("% discount")).toBe(points > 0);
    const receipt = await selectReceipt(harness.storage, "default", shown.id);
    const kept = receipt?.pricedBy;
    if (kept === undefined || !("id" in kept)) throw new Error("the receipt names no prices");
    const text = (await selectPrices(harness.storage, kept.id)) ?? "";
    expect(readKeptPrices(text).discount).toBe(points);
    expect(costAt(receipt?.usage ?? {}, readKeptPrices(text))).toBe(cost);
  });

  test("H23: applies to reservations: a budget admits as many calls as it can pay", async () => {
    const costly = { ...body, max_completion_tokens: 1_000 };
    discounts = [];
    expect((await harness.post("/api/v1/chat/completions", costly, POOR_KEY)).status).toBe(402);
    discounts = [{ basis_points: 9_000 }];
    const answer = await harness.post("/api/v1/chat/completions", costly, POOR_KEY);
    expect(answer.status).toBe(200);
    expect(harness.gateway.admissions.held).toMatchObject({ calls: 0, nanoUsd: 0 });
  });
});
