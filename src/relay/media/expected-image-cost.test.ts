import { describe, expect, test } from "bun:test";
import type { SentCall } from "../../../testing/sent-call.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Pricings } from "../../catalogue/model.ts";
import { expectedImageCost, expectedImageUsage } from "./expected-image-cost.ts";
import { ImageGateway, PNG } from "./image-gateway.sample.ts";

const each = (value: number): Pricings => ({ image: [{ value, unit: "perCount", currency: "USD" }] });
const byTokens: Pricings = { image: [{ value: 40, unit: "perMTokens", currency: "USD" }] };

describe("H23: the possible cost of images is reserved before they are generated", () => {
  test("at the most expensive of the offers", () => {
    const offers = [{ pricings: each(0.02) }, { pricings: each(0.05) }, { pricings: each(0.04) }];
    expect(expectedImageCost(3, {}, offers)).toBe(150_000_000);
    expect(expectedImageCost(3, {}, [])).toBe(0);
  });

  test("by their number where each has a price, else by the most tokens of their quality", () => {
    expect(expectedImageUsage(3, { quality: "high" }, each(0.02))).toEqual({ images: 3 });
    const tokens = (quality?: string) => expectedImageUsage(2, withoutAbsent({ quality }), byTokens).imageOutput;
    expect([tokens("low"), tokens("medium"), tokens("standard")]).toEqual([816, 3_512, 3_512]);
    expect([tokens("xhigh"), tokens("max")]).toEqual([11_860, 26_684]);
    // The model chooses, and may choose the best.
    expect([tokens("high"), tokens("auto"), tokens()]).toEqual([14_048, 14_048, 14_048]);
    expect(expectedImageCost(2, { quality: "low" }, [{ pricings: byTokens }])).toBe(816 * 40_000);
  });

  test.each([
    ["high", 1024, 1024, 7_024],
    ["high", 3840, 2160, 13_342],
    ["high", 2880, 2880, 23_719],
    ["max", 3840, 2160, 13_342],
    ["xhigh", 3840, 2160, 5_930],
    ["medium", 3840, 2160, 3_336],
    ["low", 1024, 1024, 408],
    [undefined, 3840, 2160, 13_342],
  ])("by their size where it is set: %s, %i x %i", (quality, width, height, tokens) => {
    const settings = withoutAbsent({ quality, size: { width, height } });
    expect(expectedImageUsage(1, settings, byTokens).imageOutput).toBe(tokens);
  });
});

describe("H23: concurrent calls do not spend the same remainder of a budget", () => {
  const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;
  const keys = ["Counted", "Conversing", "Tokens"].map((name) => ({
    name,
    key: keyOf(name),
    limits: { budget_usd_per_day: 0.3 },
  }));
  const images = ImageGateway.forTests({ config: { keys } });

  /** How many of so many concurrent calls were admitted. */
  async function admitted(count: number, ask: () => SentCall): Promise<number> {
    images.play(images.paints(1_000, PNG, { usage: { input_tokens: 5, output_tokens: 400 } }));
    const calls = Array.from({ length: count }, ask);
    const statuses = await images.harness.clock.until(
      Promise.all(calls.map(async ({ answer }) => (await answer).status)),
    );
    expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([]);
    return statuses.filter((status) => status === 200).length;
  }

  test("images that are priced by number", async () => {
    expect(await admitted(6, () => images.generate({ n: 2 }, { key: keyOf("Counted") }))).toBe(3);
  });

  test("images in a conversation", async () => {
    const body = { generationConfig: { candidateCount: 2 } };
    const ask = () => images.harness.send("genai", { model: "test/painter", key: keyOf("Conversing"), body });
    expect(await admitted(6, ask)).toBe(3);
  });

  test("images that are priced by tokens, by the requested quality", async () => {
    const ask = (quality: string) => () => images.generate({ model: "test/tokens", quality }, { key: keyOf("Tokens") });
    expect(await admitted(3, ask("high"))).toBe(1);
    // What it really cost is known now, and the rest is free again.
    expect(await admitted(3, ask("low"))).toBe(3);
  });
});
