import { describe, expect, test } from "bun:test";
import { countsNothing, laterUsage, sumUsage, wholeUsage } from "./usage.ts";

describe("H39: zeros never replace a count", () => {
  const counted = { input: 4500, cacheRead: 10, output: 20 };

  test.each([
    ["zeros", { input: 0, output: 0 }, counted],
    ["nothing", {}, counted],
    ["a larger count", { input: 4500, cacheRead: 10, output: 25 }, { input: 4500, cacheRead: 10, output: 25 }],
    ["an answer, and a prompt of zero", { input: 0, output: 25 }, { input: 4500, cacheRead: 10, output: 25 }],
    ["a prompt, and an answer of zero", { input: 4510, output: 0 }, { input: 4510, output: 20 }],
    [
      "a prompt that is all cached",
      { input: 0, cacheRead: 4510, output: 20 },
      { cacheRead: 4510, input: 0, output: 20 },
    ],
    ["searches next to zeros", { input: 0, output: 0, searches: 2 }, { ...counted, searches: 2 }],
  ])("%s", (_, later, expected) => {
    expect(laterUsage(counted, later)).toEqual(expected);
  });

  test("any usage replaces zeros or nothing", () => {
    expect(laterUsage(undefined, { input: 0, output: 0 })).toEqual({ input: 0, output: 0 });
    expect(laterUsage({ input: 0, output: 0 }, { input: 3 })).toEqual({ input: 3 });
  });

  test("a usage without tokens counts nothing", () => {
    expect([{}, { input: 0, output: 0 }, { searches: 1 }].map(countsNothing)).toEqual([true, true, true]);
    expect([{ cacheRead: 1 }, { reasoning: 1 }].map(countsNothing)).toEqual([false, false]);
  });
});

describe("H27, H60: the later figures count", () => {
  const counted = { input: 400, cacheRead: 100, output: 20, reasoning: 10 };

  test.each([
    ["a smaller prompt", { input: 10, output: 40 }, { input: 10, output: 40 }],
    ["a smaller answer", { input: 500, output: 20 }, { input: 500, output: 20 }],
    ["an answer that became part of the prompt", { input: 520, output: 10 }, { input: 520, output: 10 }],
    ["no answer", { input: 510, output: 0 }, { input: 510, output: 20, reasoning: 10 }],
    ["no prompt", { output: 40 }, { input: 400, cacheRead: 100, output: 40 }],
    ["the same prompt, more of it cached", { cacheRead: 500, output: 30 }, { cacheRead: 500, output: 30 }],
  ])("%s", (_, later, expected) => {
    expect(laterUsage(counted, later)).toEqual(expected);
  });

  test("decision 0131: what of a prompt was cached sound stays with that prompt", () => {
    const heard = { ...counted, cached: { audio: 60 } };
    expect(laterUsage(heard, { input: 0, output: 40 }).cached).toEqual({ audio: 60 });
    expect(laterUsage(heard, { input: 10, output: 40 })).not.toHaveProperty("cached");
    expect(laterUsage(heard, { input: 900, output: 40, cached: { audio: 5 } }).cached).toEqual({ audio: 5 });
  });

  test("uses of tools and unknown counters that it lacks are kept", () => {
    const earlier = { ...counted, searches: 2, tools: { maps: 3, fetch: 1 }, unknown: ["usage.a"] };
    expect(
      laterUsage(earlier, { ...counted, searches: 0, tools: { maps: 1, shell: 2 }, unknown: ["usage.b"] }),
    ).toEqual({
      ...counted,
      searches: 2,
      tools: { maps: 1, fetch: 1, shell: 2 },
      unknown: ["usage.a", "usage.b"],
    });
    expect(laterUsage(earlier, counted)).toEqual(earlier);
  });

  test("a usage that counts as much or more replaces the earlier one", () => {
    const later = { ...counted, output: 21, searches: 1 };
    expect(laterUsage(counted, later)).toBe(later);
  });
});

describe("H33: passes that a provider ran on its own", () => {
  const pass = { kind: "compaction", usage: { input: 100, output: 7 } };

  test("a sum keeps the passes of both", () => {
    expect(sumUsage({ input: 1, passes: [pass] }, { input: 2, passes: [pass] })).toEqual({
      input: 3,
      passes: [pass, pass],
    });
  });

  test("the whole usage includes the passes and omits fields that only bound it", () => {
    const usage = { input: 10, output: 5, rounds: 2, servedBy: "other", passes: [pass, pass] };
    expect(wholeUsage(usage)).toEqual({ input: 210, output: 19 });
  });
});
