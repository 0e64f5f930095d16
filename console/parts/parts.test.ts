import { describe, expect, test } from "bun:test";
import { mayMatch } from "../pages/calls.tsx";
import { costWords } from "../state/call-cost.ts";
import { volumeOf } from "./call-volume.tsx";
import { spanShown, stacked, topOf } from "./chart.tsx";
import { correctionOf } from "./cost-sheet.tsx";
import { failureSentence } from "./waterfall.tsx";

describe("decision 0085: corrected usage", () => {
  const NOTHING = {
    input: null,
    cache_read: null,
    cache_write_5m: null,
    cache_write_1h: null,
    output: null,
    reasoning: null,
    image_input: null,
    audio_input: null,
    image_output: null,
    audio_output: null,
    images: null,
    seconds: null,
    characters: null,
    searches: null,
    tools: null,
  };
  const usage = { ...NOTHING, input: 10, output: 4 };

  test("is shown next to the billed usage, with the reasons", () => {
    const reported = { ...NOTHING, input: 10, output: 9_000, reasoning: 7 };
    expect(correctionOf({ reported, usage, usage_corrections: ["output_above_limit"] })).toEqual({
      reasons: ["more tokens than the request, the model or the response text allows"],
      rows: [
        { counter: "output", claimed: 9_000, billed: 4 },
        { counter: "reasoning", claimed: 7, billed: null },
      ],
    });
  });

  test("an unknown reason is shown by its name", () => {
    const corrected = { reported: usage, usage, usage_corrections: ["of_the_next_version"] };
    expect(correctionOf(corrected)).toEqual({ reasons: ["of the next version"], rows: [] });
  });

  test("nothing is shown if the provider's figures were billed", () => {
    expect(correctionOf({ reported: null, usage, usage_corrections: [] })).toBeUndefined();
  });
});

describe("a provider's failure", () => {
  test("is a sentence of text, with what an operator reads first", () => {
    const failure = { provider: "p", said: "<b>no</b>", status: 529, host: "api.example.com", errno: null };
    expect(failureSentence({ failure, reason: "upstream_overloaded" })).toBe(
      "<b>no</b> · HTTP 529 · from api.example.com",
    );
    const said = '{"type":"error","error":{"type":"api_error","message":"Service unavailable"}}';
    expect(failureSentence({ failure: { said }, reason: "overloaded" })).toBe("Service unavailable");
    for (const [raw, words] of [
      ['{"error":"no key"}', "no key"],
      ['[{"error":{"code":429,"message":"Quota"}}]', "Quota"],
      ['{"detail":[{"msg":"field required"}]}', "field required"],
      ['{"code":5}', '{"code":5}'],
      ["<html>", "<html>"],
    ] as const)
      expect(failureSentence({ failure: { said: raw }, reason: null })).toBe(words);
    expect(failureSentence({ failure: null, reason: "upstream_timeout" })).toBe("upstream timeout");
  });
});

describe("console review: free, unpriced and unbilled calls differ", () => {
  const usage = { input: 10 } as Parameters<typeof costWords>[0]["usage"];
  const call = { cost_nano_usd: 0, unpriced: [], usage, outcome: "ok", adjusts: null };

  test("unbilled, unpriced, free and known", () => {
    const words = (changes: Partial<typeof call>) => costWords({ ...call, ...changes }).text;
    expect(words({})).toBe("free");
    expect(words({ unpriced: ["input"] as never[] })).toBe("unpriced");
    expect(words({ cost_nano_usd: 2_000_000, unpriced: ["searches"] as never[] })).toBe("$0.00200 +?");
    expect(words({ cost_nano_usd: 2_000_000 })).toBe("$0.00200");
    const unused = { input: null } as unknown as typeof usage;
    expect(words({ usage: unused, outcome: "upstream_overloaded" })).toBe("–");
    expect(words({ outcome: "upstream_overloaded" })).toBe("$0");
  });
});

describe("a live list", () => {
  test("counts only calls that its filter may show", () => {
    const event = { type: "call.ended", model: "m", provider: "p", key: "k", outcome: "rate_limited" };
    expect(mayMatch(event, { model: "m", outcome: "failed", tag: "unknown to events" })).toBe(true);
    expect(mayMatch(event, { outcome: "ok" })).toBe(false);
    expect(mayMatch(event, { key: "other" })).toBe(false);
    expect(mayMatch({ ...event, outcome: "client_gone" }, { outcome: "failed" })).toBe(false);
  });
});

describe("charts", () => {
  test("a stack ends at the sum", () => {
    const series = [1, 2, 3].map((value) => ({ name: String(value), tone: "one" as const, values: [value, null] }));
    expect(stacked(series)).toEqual([
      [1, 0],
      [3, 0],
      [6, 0],
    ]);
  });

  test("a volume has a bar for every interval, 0 if there were no calls", () => {
    const row = { group: "1970-01-01T01:00:00Z", calls: 5, failures: 1 } as Parameters<typeof volumeOf>[0][number];
    const volume = volumeOf([row], 3_600_000, 0, 3 * 3_600_000);
    expect(volume.calls).toEqual([0, 5, 0]);
    expect(volume.failures).toEqual([0, 1, 0]);
  });
});

describe("the top of an axis", () => {
  test.each([
    [0, 1],
    [1, 1],
    [73, 80],
    [1_001, 1_500],
    [0.9, 1],
    [2_410_000_000, 2_500_000_000],
  ])("for %p is %p, which has a label", (most, top) => expect(topOf(most)).toBeCloseTo(top));
});

describe("the time span of a chart", () => {
  const DAY = 86_400_000;

  test("data for one day still shows all thirty days", () => {
    const shown = spanShown({ times: [29.2 * DAY], everyMs: DAY, kind: "bars", span: [0, 30 * DAY] });
    expect(shown).toEqual([0, 30.2 * DAY]);
  });

  test("a first bar that starts before the range is shown in full", () => {
    expect(spanShown({ times: [5, 15], everyMs: 10, kind: "bars", span: [9, 20] })).toEqual([5, 25]);
  });

  test("a single point, or none, still has a width", () => {
    expect(spanShown({ times: [7], everyMs: 10, kind: "lines" })).toEqual([7, 17]);
    expect(spanShown({ times: [], everyMs: 10, kind: "lines" })).toEqual([0, 10]);
  });
});
