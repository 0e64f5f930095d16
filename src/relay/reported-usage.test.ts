import { describe, expect, test } from "bun:test";
import { correctedUsage, isEnough, isPlausible } from "./reported-usage.ts";

const ESTIMATED_INPUT = 50;

describe("H06, H27: a usage that cannot be true is bounded by what passed through", () => {
  test.each([
    ["no tokens reported for an answer with text", { input: 0, output: 0 }, 4_000, { input: 50, output: 1_000 }],
    ["no output beside a text", { input: 9, output: 0 }, 8, { input: 9, output: 2 }],
    ["one token for a long text", { input: 9, output: 1 }, 4_000, { input: 9, output: 1_000 }],
    ["no prompt", { output: 3 }, 8, { input: 50, output: 3 }],
    [
      "more from a cache than the request holds",
      { input: 10, cacheRead: 1e6, output: 3, doubtful: true as const },
      8,
      { input: 10, cacheRead: 40, output: 3 },
    ],
    [
      "more read from a cache than is left of the prompt after what was written to it",
      { input: 10, cacheRead: 1e6, cacheWrite5m: 5, cacheWrite1h: 7, output: 3, doubtful: true as const },
      8,
      { input: 10, cacheRead: 28, cacheWrite5m: 5, cacheWrite1h: 7, output: 3 },
    ],
    [
      "a cache beside the prompt, where the request is as large",
      { input: 10, cacheRead: 30, output: 3, doubtful: true as const },
      8,
      { input: 10, cacheRead: 30, output: 3 },
    ],
  ])("%s", (_, reported, characters, billed) => {
    expect(isPlausible(reported, characters)).toBe(false);
    expect(correctedUsage(reported, characters, ESTIMATED_INPUT)).toEqual(billed);
  });

  test.each([
    ["an answer of nothing", { input: 9, output: 0 }, 0],
    ["hidden reasoning beside a short text", { input: 9, output: 1, reasoning: 20_000 }, 4],
    ["blanks, of which a token holds many", { input: 9, output: 10 }, 1_280],
    ["a prompt that is all from a cache", { input: 0, cacheRead: 100, output: 1 }, 4],
  ])("believed: %s", (_, reported, characters) => {
    expect(isPlausible(reported, characters)).toBe(true);
  });

  test("no tokens are enough for nothing, and for nothing else", () => {
    expect(isEnough(0, 0)).toBe(true);
    expect(isEnough(0, 1)).toBe(false);
    expect([isEnough(1, 256), isEnough(1, 257)]).toEqual([true, false]);
  });
});
