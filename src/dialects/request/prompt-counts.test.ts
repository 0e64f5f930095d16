import { describe, expect, test } from "bun:test";
import { promptCounts } from "./prompt-counts.ts";

describe("H36, H37, H38: each token of a prompt counts once", () => {
  test.each([
    ["cache reads are subtracted from the input", { prompt: 100, cacheRead: 40 }, { input: 60, cacheRead: 40 }],
    ["cache writes are subtracted too", { prompt: 100, cacheWrite: 30 }, { input: 70, cacheWrite5m: 30 }],
    ["both", { prompt: 100, cacheRead: 40, cacheWrite: 30 }, { input: 30, cacheRead: 40, cacheWrite5m: 30 }],
    ["a zero is a count", { prompt: 100, cacheRead: 0 }, { input: 100, cacheRead: 0 }],
    ["sound", { prompt: 100, audio: 80 }, { input: 20, audioInput: 80 }],
    [
      "audio that may be cached",
      { prompt: 100, cacheRead: 50, audio: 80 },
      { input: 0, audioInput: 50, cacheRead: 50 },
    ],
    [
      "more cache reads than the prompt has",
      { prompt: 7, cacheRead: 163, leftByTotal: 7 },
      { input: 0, cacheRead: 163 },
    ],
    [
      "the same tokens as read and as written",
      { prompt: 2168, cacheRead: 2161, cacheWrite: 2161, leftByTotal: 2168 },
      { input: 0, cacheRead: 7, cacheWrite5m: 2161 },
    ],
    [
      "the total has room for cache reads in addition to the prompt",
      { prompt: 7, cacheRead: 163, leftByTotal: 170 },
      { input: 7, cacheRead: 163 },
    ],
  ])("%s", (_, reported, counts) => {
    expect(promptCounts(reported)).toEqual(counts);
  });
});
