import { describe, expect, test } from "bun:test";
import {
  AT_CONTRACT_DOOR,
  AT_DROPIN_DOOR,
  type RefusalCase,
  refusalOf,
  testRefusals,
} from "../../reading/refusal-table.ts";
import { checkChatRequest } from "./check-request.ts";

const check = (body: unknown, context = AT_CONTRACT_DOOR) => checkChatRequest(body, context);
const sound = { model: "acme/one", messages: [{ role: "user", content: "Hello" }] };

const json = (json_schema: object) => ({ response_format: { type: "json_schema", json_schema } });

const fields: RefusalCase[] = [
  {
    rule: "contract 2.12: model is required",
    good: { model: "acme/two" },
    bad: { model: undefined },
    path: "model",
    says: "must be a non-empty string; it is missing",
  },
  {
    rule: "contract 2.12: messages is required",
    good: {},
    bad: { messages: undefined },
    path: "messages",
    says: "must be an array of at least 1 item; it is missing",
  },
  {
    rule: "an empty conversation",
    good: {},
    bad: { messages: [] },
    path: "messages",
    says: "at least 1 item; it has 0",
  },
  {
    rule: "contract 2.12: max_completion_tokens is an integer or null",
    good: { max_completion_tokens: null },
    bad: { max_completion_tokens: 1.5 },
    path: "max_completion_tokens",
    says: "must be an integer of at least 1, or null; it is 1.5",
  },
  {
    rule: "contract 2.12: max_completion_tokens is at least 1",
    good: { max_completion_tokens: 1 },
    bad: { max_completion_tokens: 0 },
    path: "max_completion_tokens",
    says: "an integer of at least 1",
  },
  {
    rule: "contract 2.12: temperature is a number without an enforced range",
    good: { temperature: 3 },
    bad: { temperature: "hot" },
    path: "temperature",
    says: 'must be a number, or null; it is "hot"',
  },
  { rule: "contract 2.12: top_p is a number", good: { top_p: 1 }, bad: { top_p: [] }, path: "top_p", says: "a number" },
  { rule: "contract 8: n is only 1", good: { n: 1 }, bad: { n: 2 }, path: "n", says: "must be 1, or null; it is 2" },
  { rule: "contract 2.12: n may be null", good: { n: null }, bad: { n: "1" }, path: "n", says: "must be 1, or null" },
  {
    rule: "contract 2.12: frequency_penalty -2..2",
    good: { frequency_penalty: -2 },
    bad: { frequency_penalty: 2.1 },
    path: "frequency_penalty",
    says: "a number from -2 to 2",
  },
  {
    rule: "contract 2.12: presence_penalty -2..2",
    good: { presence_penalty: 2 },
    bad: { presence_penalty: -2.1 },
    path: "presence_penalty",
    says: "a number from -2 to 2",
  },
  {
    rule: "contract 8: stop has at most 4 sequences",
    good: { stop: ["a", "b", "c", "d"] },
    bad: { stop: ["a", "b", "c", "d", "e"] },
    path: "stop",
    says: "at most 4 items; it has 5",
  },
  {
    rule: "contract 2.12: stop is a string, an array of strings or null",
    good: { stop: "END" },
    bad: { stop: ["a", 7] },
    path: "stop[1]",
    says: "must be a string; it is 7",
  },
  {
    rule: "contract 2.12: logit_bias values -100..100",
    good: { logit_bias: { 50256: -100 } },
    bad: { logit_bias: { 50256: 101 } },
    path: 'logit_bias["50256"]',
    says: "a number from -100 to 100; it is 101",
  },
  {
    rule: "contract 2.12: logprobs is boolean or null",
    good: { logprobs: null },
    bad: { logprobs: 1 },
    path: "logprobs",
    says: "true or false, or null",
  },
  {
    rule: "contract 8: top_logprobs 0..20",
    good: { logprobs: true, top_logprobs: 20 },
    bad: { logprobs: true, top_logprobs: 21 },
    path: "top_logprobs",
    says: "an integer from 0 to 20",
  },
  {
    rule: "contract 2.12: top_logprobs requires logprobs",
    good: { logprobs: true, top_logprobs: 0 },
    bad: { top_logprobs: 2 },
    path: "top_logprobs",
    says: "requires logprobs to be true",
  },
  {
    rule: "contract 2.12: reasoning_effort has many values",
    good: { reasoning_effort: "xhigh" },
    bad: { reasoning_effort: 3 },
    path: "reasoning_effort",
    says: "a non-empty string",
  },
  {
    rule: "contract 2.12: verbosity",
    good: { verbosity: "low" },
    bad: { verbosity: "loud" },
    path: "verbosity",
    says: 'one of "low", "medium", "high"',
  },
  {
    rule: "contract 2.12: web_search_options is an object",
    good: { web_search_options: {} },
    bad: { web_search_options: true },
    path: "web_search_options",
    says: "an object",
  },
  {
    rule: "contract 8: metadata has up to 16 pairs",
    good: { metadata: Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, "v"])) },
    bad: { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"])) },
    path: "metadata",
    says: "at most 16 key-value pairs; it has 17 key-value pairs",
  },
  {
    rule: "contract 2.12: parallel_tool_calls is boolean",
    good: { parallel_tool_calls: false },
    bad: { parallel_tool_calls: "no" },
    path: "parallel_tool_calls",
    says: "true or false",
  },
  {
    rule: "contract 2.12: stream is boolean or null",
    good: { stream: null },
    bad: { stream: "yes" },
    path: "stream",
    says: "true or false, or null",
  },
  {
    rule: "contract 2.12: stream_options is an object, without effect unless stream is true",
    good: { stream_options: { include_usage: true } },
    bad: { stream_options: { include_usage: 1 } },
    path: "stream_options.include_usage",
    says: "true or false",
  },
  {
    rule: "contract 2.12: response_format has three kinds",
    good: { response_format: { type: "json_object" } },
    bad: { response_format: { type: "xml" } },
    path: "response_format.type",
    says: 'one of "text", "json_object", "json_schema"; it is "xml"',
  },
  {
    rule: "contract 8: the json_schema name is at most 64 characters",
    good: json({ name: "a".repeat(64), schema: {}, strict: true }),
    bad: json({ name: "a".repeat(65) }),
    path: "response_format.json_schema.name",
    says: "1 to 64 letters",
  },
  {
    rule: "contract 8: the json_schema name has letters, digits, underscores and dashes",
    good: json({ name: "Aa_0-9" }),
    bad: json({ name: "my answer" }),
    path: "response_format.json_schema.name",
    says: "underscores and dashes",
  },
  {
    rule: "contract 2.12: the json_schema schema is an object",
    good: json({ name: "a", schema: {} }),
    bad: json({ name: "a", schema: "{}" }),
    path: "response_format.json_schema.schema",
    says: "an object",
  },
];

const routing: RefusalCase[] = [
  {
    rule: "contract 2.12: provider.type",
    good: { provider: { type: "round_robin", providers: ["acme"], fallback: "true" } },
    bad: { provider: { type: "random" } },
    path: "provider.type",
    says: 'one of "priority", "round_robin", "least_latency"',
  },
  {
    rule: "contract 2.12: provider.primary_factor",
    good: { provider: { primary_factor: "quality" } },
    bad: { provider: { primary_factor: "beauty" } },
    path: "provider.primary_factor",
    says: 'one of "cost", "speed", "quality"',
  },
  {
    rule: "contract 2.12: provider.providers is an array of names",
    good: { provider: { providers: [] } },
    bad: { provider: { providers: "acme" } },
    path: "provider.providers",
    says: "an array of strings",
  },
  {
    rule: "contract 2.12: provider.fallback is a string; true and false are understood (choices 6)",
    good: { provider: { fallback: false } },
    bad: { provider: { fallback: 1 } },
    path: "provider.fallback",
    says: 'the string "true", "false", a provider name or a model id; it is 1',
  },
  {
    rule: "choices 6: provider.routing nests the same object, with synonyms",
    good: { provider: { routing: { type: "order", primary_factor: "price" } } },
    bad: { provider: { routing: { primary_factor: "prize" } } },
    path: "provider.routing.primary_factor",
    says: 'one of "cost", "speed", "quality"',
  },
  {
    rule: "choices 8: trivium.deadline_ms",
    good: { trivium: { survive: true, hedge: false, deadline_ms: 1 } },
    bad: { trivium: { deadline_ms: 0 } },
    path: "trivium.deadline_ms",
    says: "from 1 to 86400000",
  },
  {
    rule: "contract 2.12: model_routing_config.task_info.task_type",
    good: { model_routing_config: { available_models: ["a/b"], preference: "a/b", task_info: { task_type: "chat" } } },
    bad: { model_routing_config: { task_info: { task_type: "song" } } },
    path: "model_routing_config.task_info.task_type",
    says: 'one of "chat", "completion", "embedding"',
  },
  {
    rule: "contract 2.12: model_routing_config.task_info.complexity",
    good: { model_routing_config: { task_info: { complexity: "low", additional_properties: {} } } },
    bad: { model_routing_config: { task_info: { complexity: 9 } } },
    path: "model_routing_config.task_info.complexity",
    says: 'one of "low", "medium", "high"',
  },
  {
    rule: "contract 2.12: model_routing_config.available_models",
    good: { model_routing_config: {} },
    bad: { model_routing_config: { available_models: [1] } },
    path: "model_routing_config.available_models[0]",
    says: "a string",
  },
  {
    rule: "choices 8: model_routing_config.available_models names a model, or is absent",
    good: { model_routing_config: { available_models: ["a/b"] } },
    bad: { model_routing_config: { available_models: [] } },
    path: "model_routing_config.available_models",
    says: "of 1 to 1000 items; it has 0 items",
  },
  {
    rule: "contract 2.12: reasoning.effort",
    good: { reasoning: { enabled: true, effort: "high", max_tokens: 2000, exclude: false } },
    bad: { reasoning: { effort: "huge" } },
    path: "reasoning.effort",
    says: 'one of "low", "medium", "high"',
  },
  {
    rule: "contract 2.12: reasoning.max_tokens is a number",
    good: { reasoning: { max_tokens: 1 } },
    bad: { reasoning: { max_tokens: "1" } },
    path: "reasoning.max_tokens",
    says: "a number",
  },
  {
    rule: "contract 2.12: usage.include",
    good: { usage: { include: true } },
    bad: { usage: { include: "cost" } },
    path: "usage.include",
    says: "true or false",
  },
];

describe("chat request fields", () => testRefusals(checkChatRequest, sound, fields));
describe("chat request routing", () => testRefusals(checkChatRequest, sound, routing));

const OTHER_DOOR = "Use the base URL https://t.example/v1, which accepts it.";

describe("contract 2.12: unsupported fields", () => {
  const values: [string, unknown, string][] = [
    ["max_tokens", 100, "Use max_completion_tokens, or the base URL https://t.example/v1, which accepts it."],
    ["functions", [{ name: "f" }], "Use tools, or the base URL https://t.example/v1, which accepts it."],
    ["function_call", "auto", "Use tool_choice, or the base URL https://t.example/v1, which accepts it."],
    ["audio", { voice: "a", format: "wav" }, OTHER_DOOR],
    ["modalities", ["text"], OTHER_DOOR],
    ["prompt_cache_key", "k", OTHER_DOOR],
    ["prompt_cache_retention", "24h", OTHER_DOOR],
    ["safety_identifier", "s", OTHER_DOOR],
    ["store", false, OTHER_DOOR],
    ["service_tier", "auto", OTHER_DOOR],
    ["prediction", { type: "content", content: "a" }, OTHER_DOOR],
    ["seed", 0, OTHER_DOOR],
    ["user", "u", OTHER_DOOR],
  ];

  test.each(values)("%s: rejected at the contract door, accepted at the drop-in door", (field, value, advice) => {
    const refusal = refusalOf(check, { ...sound, [field]: value });
    expect(refusal?.kind).toBe("unsupported_parameter");
    expect(refusal?.path).toBe(field);
    expect(refusal?.message).toBe(`\`${field}\` is not supported on /api/v1. ${advice}`);
    expect(refusalOf(check, { ...sound, [field]: value }, AT_DROPIN_DOOR)).toBeUndefined();
  });

  test.each(values)("%s: null counts as absent", (field) => {
    expect(refusalOf(check, { ...sound, [field]: null })).toBeUndefined();
  });

  test("an invalid value of an unsupported field is reported as unsupported, so that nobody corrects the value for nothing", () => {
    expect(refusalOf(check, { ...sound, max_tokens: "100" })?.kind).toBe("unsupported_parameter");
    expect(refusalOf(check, { ...sound, max_tokens: 0 }, AT_DROPIN_DOOR)?.message).toContain(
      "an integer of at least 1",
    );
  });
});

test("unknown fields are passed on at every level", () => {
  const body = {
    ...sound,
    future: { a: 1 },
    messages: [
      { role: "user", content: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }], mood: "good" },
    ],
  };
  expect(refusalOf(check, body)).toBeUndefined();
});
