import { describe, expect, test } from "bun:test";
import { MAX_UNKNOWN_COUNTERS, sumUsage } from "../../canon/usage.ts";
import { decodeUsage as chat } from "../chat/answer/usage.ts";
import { decodeUsage as converse } from "../converse/usage.ts";
import { decodeUsage as genai } from "../genai/answer/usage.ts";
import { decodeUsage as messages } from "../messages/answer/usage.ts";
import { decodeUsage as responses } from "../responses/answer/usage.ts";

const EXTRA = { foo_tokens: 7, bar_tokens: 0, words: "9", nested: { deep_tokens: 1, list: [{ more: 2 }] } };

test.each([
  ["chat", chat({ prompt_tokens: 1, completion_tokens: 2, ...EXTRA }), "usage"],
  ["messages", messages({ input_tokens: 1, output_tokens: 2, ...EXTRA }), "usage"],
  ["responses", responses({ input_tokens: 1, output_tokens: 2, ...EXTRA }), "usage"],
  ["converse", converse({ usage: { inputTokens: 1, outputTokens: 2, ...EXTRA } }), "usage"],
  ["genai", genai({ usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, ...EXTRA } }), "usageMetadata"],
])("%s: an unknown counter that is not zero is named, wherever it is", (_, usage, holder) => {
  expect(usage?.unknown).toEqual(["foo_tokens", "nested.deep_tokens", "nested.list.more"].map((n) => `${holder}.${n}`));
});

test("an unknown modality is named", () => {
  const details = (modality: string) => [{ modality, tokenCount: 5 }];
  const of = (modality: string) =>
    genai({ usageMetadata: { promptTokenCount: 5, promptTokensDetails: details(modality) } })?.unknown;
  expect(of("VIDEO")).toBeUndefined();
  expect(of("SMELL")).toEqual(["usageMetadata.promptTokensDetails.SMELL.tokenCount"]);
});

test("counters of a pass are known like those of the whole", () => {
  const of = (pass: object) => messages({ input_tokens: 1, output_tokens: 2, iterations: [pass] })?.unknown;
  expect(of({ type: "message", input_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: 3 } })).toBeUndefined();
  expect(of({ type: "message", foo_tokens: 1 })).toEqual(["usage.iterations.foo_tokens"]);
});

describe("decision 0085: an invalid count is named", () => {
  const IMPOSSIBLE = [-1, 2.5, 0.4, "3", 1e12, true, [1], { count: 1 }];

  test.each([
    [
      "chat",
      "usage.prompt_tokens_details.audio_tokens",
      (count: unknown) => chat({ prompt_tokens: 1, prompt_tokens_details: { audio_tokens: count } }),
    ],
    [
      "chat",
      "usage.server_tool_use.web_search_requests",
      (count: unknown) => chat({ prompt_tokens: 1, server_tool_use: { web_search_requests: count } }),
    ],
    [
      "messages",
      "usage.server_tool_use.web_search_requests",
      (count: unknown) => messages({ input_tokens: 1, server_tool_use: { web_search_requests: count } }),
    ],
    [
      "messages",
      "usage.server_tool_use.code_execution_requests",
      (count: unknown) => messages({ input_tokens: 1, server_tool_use: { code_execution_requests: count } }),
    ],
    [
      "messages",
      "usage.iterations.output_tokens",
      (count: unknown) => messages({ input_tokens: 1, iterations: [{ type: "compaction", output_tokens: count }] }),
    ],
    [
      "responses",
      "usage.server_side_tool_usage_details.x_search_calls",
      (count: unknown) => responses({ input_tokens: 1, server_side_tool_usage_details: { x_search_calls: count } }),
    ],
    [
      "converse",
      "usage.outputTokens",
      (count: unknown) => converse({ usage: { inputTokens: 1, outputTokens: count } }),
    ],
    [
      "genai",
      "usageMetadata.candidatesTokenCount",
      (count: unknown) => genai({ usageMetadata: { promptTokenCount: 1, candidatesTokenCount: count } }),
    ],
  ])("%s: %s", (_, name, usageWith) => {
    for (const count of IMPOSSIBLE)
      expect({ count, unknown: usageWith(count)?.unknown }).toEqual({ count, unknown: [name] });
    for (const count of [0, 3, null]) expect(usageWith(count)?.unknown).toBeUndefined();
  });

  test("money, time and strings are not counts", () => {
    const others = { cost: 0.0021, total_time: 0.5, queue_time: "fast", service_tier: "standard" };
    expect(chat({ prompt_tokens: 1, completion_tokens: 2, ...others })?.unknown).toBeUndefined();
  });
});

test("names are limited in number, length and characters", () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`counter_${index}`, 1]));
  expect(chat({ prompt_tokens: 1, ...many })?.unknown).toHaveLength(MAX_UNKNOWN_COUNTERS);
  expect(chat({ prompt_tokens: 1, ["x".repeat(100)]: 1, "a b\n": 1 })?.unknown).toEqual(["usage.other"]);
});

test("sumUsage merges the names", () => {
  expect(sumUsage({ input: 1, unknown: ["a", "b"] }, { input: 2, unknown: ["b", "c"] })).toEqual({
    input: 3,
    unknown: ["a", "b", "c"],
  });
  expect(sumUsage({ input: 1 }, { input: 2 })).toEqual({ input: 3 });
});
