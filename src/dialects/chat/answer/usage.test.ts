import { describe, expect, test } from "bun:test";
import { decodeUsage } from "./usage.ts";

const usage = (completion: number, reasoning: number, total?: number) => ({
  prompt_tokens: 9,
  completion_tokens: completion,
  ...(total === undefined ? {} : { total_tokens: total }),
  completion_tokens_details: { reasoning_tokens: reasoning },
});

describe("H27: reasoning in addition to the completion, or included in it", () => {
  test.each([
    ["the total includes it", usage(12, 38, 59), false, 12, 38],
    ["the total excludes it, although it is far larger than the completion", usage(52, 232, 61), false, 52, 232],
    ["a host that always reports it separately", usage(52, 20, 61), true, 52, 20],
    ["included, as at most hosts", usage(50, 20, 59), false, 30, 20],
    ["included and miscounted", usage(128, 132, 137), false, 0, 128],
    ["included and miscounted, without a total", usage(128, 132), false, 0, 128],
  ])("%s", (_, reported, beside, output, reasoning) => {
    expect(decodeUsage(reported, beside)).toEqual({ input: 9, output, reasoning });
  });
});

test("H06, H38: cached tokens are part of the prompt, and count in full where they exceed it", () => {
  const cached = (count: number) => ({
    prompt_tokens: 10,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: count },
  });
  expect(decodeUsage(cached(10))).toEqual({ input: 0, cacheRead: 10, output: 1 });
  expect(decodeUsage(cached(163))).toEqual({ input: 0, cacheRead: 163, output: 1 });
});

test("audio in a prompt is counted separately", () => {
  const reported = {
    prompt_tokens: 100,
    completion_tokens: 1,
    prompt_tokens_details: { audio_tokens: 80, cached_tokens: 5 },
  };
  expect(decodeUsage(reported)).toEqual({ input: 15, audioInput: 80, cacheRead: 5, output: 1 });
});
