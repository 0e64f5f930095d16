import { describe, expect, test } from "bun:test";
import { StreamedUsage } from "./streamed-usage.ts";
import { consistentUsage, decodeUsage, encodeUsage, missingUsage } from "./usage.ts";

const split = (minutes: number, hour: number) => ({
  ephemeral_5m_input_tokens: minutes,
  ephemeral_1h_input_tokens: hour,
});

describe("H27, contract 2.11: cache writes", () => {
  const of = (usage: object) => decodeUsage({ input_tokens: 1, output_tokens: 1, ...usage });

  test.each([
    ["a total that its split does not cover", { cache_creation_input_tokens: 10, cache_creation: split(0, 0) }, 10, 0],
    ["a split of an hour, and the rest", { cache_creation_input_tokens: 10, cache_creation: split(0, 4) }, 6, 4],
    ["a consistent total and split", { cache_creation_input_tokens: 10, cache_creation: split(6, 4) }, 6, 4],
    ["a split above its total", { cache_creation_input_tokens: 0, cache_creation: split(6, 4) }, 6, 4],
    ["only a split", { cache_creation: split(6, 4) }, 6, 4],
  ])("%s", (_, usage, cacheWrite5m, cacheWrite1h) => {
    expect(of(usage)).toMatchObject({ cacheWrite5m, cacheWrite1h });
  });

  test("a total without a split counts as five minutes", () => {
    expect(of({ cache_creation_input_tokens: 10 })).toEqual({ input: 1, output: 1, cacheWrite5m: 10 });
  });

  test("clients see what is billed: the total is the sum of the split", () => {
    const usage = { input_tokens: 1, cache_creation_input_tokens: 10, cache_creation: split(0, 4) };
    expect(consistentUsage(usage)).toEqual({ ...usage, cache_creation: split(6, 4) });
    expect(consistentUsage({ ...usage, cache_creation: split(6, 4) })).toBeUndefined();
    expect(consistentUsage({ input_tokens: 1, cache_creation_input_tokens: 10 })).toBeUndefined();
  });
});

describe("H27, H60: later counts of a stream replace earlier ones", () => {
  const merged = (...events: Record<string, unknown>[]) => {
    const usage = new StreamedUsage();
    for (const event of events) usage.add(event);
    return usage.decoded;
  };

  test.each([
    ["a larger total", { cache_creation_input_tokens: 30 }, 26, 4],
    ["a smaller total", { cache_creation_input_tokens: 3 }, 0, 3],
    ["a split", { cache_creation: split(1, 9) }, 1, 9],
    ["a split below the total", { cache_creation: split(1, 2) }, 1, 2],
    ["a total and its split", { cache_creation_input_tokens: 19, cache_creation: split(1, 2) }, 17, 2],
    ["a smaller total with less of the prompt in the cache", { input_tokens: 9, cache_creation_input_tokens: 2 }, 0, 2],
    ["no cache counters", { output_tokens: 5 }, 6, 4],
    ["null", { cache_creation_input_tokens: null, cache_creation: null }, 6, 4],
  ])("%s", (_, later, cacheWrite5m, cacheWrite1h) => {
    const first = { input_tokens: 1, cache_creation_input_tokens: 10, cache_creation: split(6, 4) };
    expect(merged(first, later)).toMatchObject({ cacheWrite5m, cacheWrite1h });
  });
});

test("H27: reasoning reported as larger than the output counts as all of the output", () => {
  const usage = { input_tokens: 1, output_tokens: 128, output_tokens_details: { thinking_tokens: 132 } };
  expect(decodeUsage(usage)).toEqual({ input: 1, output: 0, reasoning: 128 });
});

describe("contract 2.11: server_tool_use has both counts, as the vendor's SDK requires", () => {
  const estimate = { input: () => 1, output: () => 1 };

  test("in usage written for a client", () => {
    expect(encodeUsage({ input: 1, output: 1, searches: 2 }, estimate)["server_tool_use"]).toEqual({
      web_search_requests: 2,
      web_fetch_requests: 0,
    });
  });

  test.each([
    ["none", undefined, { web_search_requests: 0, web_fetch_requests: 0 }],
    ["only searches", { web_search_requests: 3 }, { web_search_requests: 3, web_fetch_requests: 0 }],
    ["only fetches", { web_fetch_requests: 4 }, { web_search_requests: 0, web_fetch_requests: 4 }],
  ])("in usage from a host that counts %s", (_, server_tool_use, whole) => {
    expect(missingUsage({ input_tokens: 1, server_tool_use })["server_tool_use"]).toEqual(whole);
  });

  test("usage from a host that counts both is unchanged", () => {
    const server_tool_use = { web_search_requests: 1, web_fetch_requests: 1 };
    expect(missingUsage({ input_tokens: 1, server_tool_use })).not.toHaveProperty("server_tool_use");
  });
});
