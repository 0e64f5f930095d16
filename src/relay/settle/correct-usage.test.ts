import { describe, expect, test } from "bun:test";
import type { Usage } from "../../canon/usage.ts";
import { correctUsage, type SeenAnswer } from "./correct-usage.ts";
import { tokensCover } from "./tokens-cover.ts";

const seen = (changes: Partial<SeenAnswer> = {}): SeenAnswer => ({
  whole: true,
  characters: 8,
  stop: { unified: "stop", raw: "stop" },
  estimatePrompt: () => ({ input: 50 }),
  bounds: { prompt: 128_000, completion: 1_000 },
  ...changes,
});

describe("H06, H27: a usage that is too small is replaced by an estimate of what passed through", () => {
  test.each<[string, Usage, number, Usage, string[]]>([
    [
      "no tokens reported for an answer with text",
      { input: 0, output: 0 },
      400,
      { input: 50, output: 100 },
      ["prompt_missing", "output_below_text"],
    ],
    ["no output next to a text", { input: 9, output: 0 }, 8, { input: 9, output: 2 }, ["output_below_text"]],
    ["one token for a long text", { input: 9, output: 1 }, 400, { input: 9, output: 100 }, ["output_below_text"]],
    ["no prompt", { output: 3 }, 8, { input: 50, output: 3 }, ["prompt_missing"]],
  ])("%s", (_, reported, characters, usage, reasons) => {
    expect(correctUsage(reported, seen({ characters }))).toEqual({ usage, reasons } as never);
  });

  test("no tokens are enough for nothing, and for nothing else", () => {
    expect(tokensCover(0, 0)).toBe(true);
    expect(tokensCover(0, 1)).toBe(false);
    expect([tokensCover(1, 256), tokensCover(1, 257)]).toEqual([true, false]);
  });
});

describe("decision 0085: a usage that is too large is cut to its bound", () => {
  test.each<[string, Usage, Usage, string]>([
    ["output", { input: 9, output: 1e9 }, { input: 9, output: 1_000 }, "output_above_limit"],
    [
      "reasoning",
      { input: 9, output: 20, reasoning: 1e9 },
      { input: 9, output: 20, reasoning: 980 },
      "output_above_limit",
    ],
    [
      "output next to reasoning",
      { input: 9, output: 1e9, reasoning: 400 },
      { input: 9, output: 600, reasoning: 400 },
      "output_above_limit",
    ],
    ["a prompt", { input: 1e9, output: 3 }, { input: 50, output: 3 }, "prompt_above_context"],
    [
      "what was cached",
      { input: 10, cacheRead: 1e9, cacheWrite5m: 4, output: 3, searches: 1 },
      { input: 50, output: 3, searches: 1 },
      "prompt_above_context",
    ],
  ])("%s", (_, reported, usage, reason) => {
    for (const whole of [true, false])
      expect(correctUsage(reported, seen({ whole }))).toEqual({ usage, reasons: [reason] } as never);
  });

  test("the bound itself is believed", () => {
    const reported = { input: 128_000, output: 1_000 };
    expect(correctUsage(reported, seen())).toEqual({ usage: reported, reasons: [] });
  });
});

describe("H39: plausible usage", () => {
  test.each<[string, Usage, Partial<SeenAnswer>]>([
    ["an answer of nothing", { input: 9, output: 0 }, { characters: 0 }],
    ["hidden reasoning next to a short text", { input: 9, output: 1, reasoning: 900 }, { characters: 4 }],
    ["blanks, of which a token holds many", { input: 9, output: 10 }, { characters: 1_280 }],
    ["a prompt that is all from a cache", { input: 0, cacheRead: 100, output: 1 }, {}],
    ["zeros next to a filter stop", { input: 0, output: 0 }, { stop: { unified: "filter", raw: "guardrail" } }],
    ["zeros of an answer that broke off", { input: 0, output: 0 }, { whole: false }],
  ])("%s", (_, reported, changes) => {
    expect(correctUsage(reported, seen(changes))).toEqual({ usage: reported, reasons: [] });
  });

  test("a filter stop makes no small count true", () => {
    const stop = { unified: "filter", raw: "content_filter" } as const;
    expect(correctUsage({ input: 9, output: 1 }, seen({ stop, characters: 4_000 })).reasons).toEqual([
      "output_below_text",
    ]);
  });
});
