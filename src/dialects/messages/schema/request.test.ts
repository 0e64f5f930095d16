import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../base/cpu-time.sample.ts";
import { AT_CONTRACT_DOOR, type RefusalCase, refusalOf, testRefusals } from "../../reading/refusal-table.ts";
import { checkCountTokensRequest, checkMessagesRequest } from "./check-request.ts";

const check = (body: unknown) => checkMessagesRequest(body, AT_CONTRACT_DOOR);
const sound = { model: "acme/one", max_tokens: 4096, messages: [{ role: "user", content: "Hello" }] };

const rows: RefusalCase[] = [
  {
    rule: "contract 2.10: max_tokens is required",
    good: {},
    bad: { max_tokens: undefined },
    path: "max_tokens",
    says: "must be an integer of at least 1; it is missing",
  },
  {
    rule: "contract 8: max_tokens is at least 1",
    good: { max_tokens: 1 },
    bad: { max_tokens: 0 },
    path: "max_tokens",
    says: "an integer of at least 1; it is 0",
  },
  {
    rule: "contract 2.10: max_tokens is an integer",
    good: { max_tokens: 10 },
    bad: { max_tokens: 10.5 },
    path: "max_tokens",
    says: "an integer of at least 1; it is 10.5",
  },
  {
    rule: "contract 2.10: messages is required",
    good: {},
    bad: { messages: undefined },
    path: "messages",
    says: "an array of 1 to 100000 items; it is missing",
  },
  { rule: "an empty conversation", good: {}, bad: { messages: [] }, path: "messages", says: "it has 0 items" },
  {
    rule: "contract 2.10: model is required",
    good: {},
    bad: { model: undefined },
    path: "model",
    says: "a non-empty string; it is missing",
  },
  {
    rule: "contract 2.10: the roles",
    good: { messages: [{ role: "assistant", content: "a" }] },
    bad: { messages: [{ role: "tool", content: "a" }] },
    path: "messages[0].role",
    says: 'one of "user", "assistant", "system"; it is "tool"',
  },
  {
    rule: "choices 3: system inside messages is accepted",
    good: { messages: [...sound.messages, { role: "system", content: "Be brief." }] },
    bad: { messages: [...sound.messages, { role: "system" }] },
    path: "messages[1].content",
    says: "a string, or an array; it is missing",
  },
  {
    rule: "contract 2.10: stop_sequences is an array of strings",
    good: { stop_sequences: ["END"] },
    bad: { stop_sequences: "END" },
    path: "stop_sequences",
    says: "an array of strings",
  },
  {
    rule: "contract 2.10: stream is boolean",
    good: { stream: true },
    bad: { stream: 1 },
    path: "stream",
    says: "true or false",
  },
  {
    rule: "contract 2.10: system is a string or text blocks",
    good: { system: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] },
    bad: { system: [{ type: "image", source: { type: "url", url: "https://a/b" } }] },
    path: "system[0].type",
    says: 'must be "text"; it is "image"',
  },
  {
    rule: "contract 8: temperature 0..1, from below",
    good: { temperature: 0 },
    bad: { temperature: -0.1 },
    path: "temperature",
    says: "a number from 0 to 1; it is -0.1",
  },
  {
    rule: "contract 8: temperature 0..1, from above",
    good: { temperature: 1 },
    bad: { temperature: 1.1 },
    path: "temperature",
    says: "a number from 0 to 1",
  },
  {
    rule: "contract 2.10: top_k is an integer",
    good: { top_k: 1 },
    bad: { top_k: 1.5 },
    path: "top_k",
    says: "an integer of at least 0; it is 1.5",
  },
  {
    rule: "contract 2.10: top_k is at least 0",
    good: { top_k: 0 },
    bad: { top_k: -1 },
    path: "top_k",
    says: "an integer of at least 0",
  },
  {
    rule: "contract 2.10: top_p 0..1",
    good: { top_p: 1 },
    bad: { top_p: 1.01 },
    path: "top_p",
    says: "a number from 0 to 1",
  },
  {
    rule: "contract 8: budget_tokens is at least 1024",
    good: { thinking: { type: "enabled", budget_tokens: 1024 } },
    bad: { thinking: { type: "enabled", budget_tokens: 1023 } },
    path: "thinking.budget_tokens",
    says: "an integer of at least 1024; it is 1023",
  },
  {
    rule: "contract 8: budget_tokens is below max_tokens",
    good: { thinking: { type: "enabled", budget_tokens: 4095 } },
    bad: { thinking: { type: "enabled", budget_tokens: 4096 } },
    path: "thinking.budget_tokens",
    says: "must be below max_tokens, which is 4096; it is 4096",
  },
  {
    rule: "contract 2.10: enabled thinking has a budget",
    good: { thinking: { type: "disabled" } },
    bad: { thinking: { type: "enabled" } },
    path: "thinking.budget_tokens",
    says: "it is missing",
  },
  {
    rule: "choices 3: adaptive thinking is accepted, a made-up kind is not",
    good: { thinking: { type: "adaptive", display: "omitted" } },
    bad: { thinking: { type: "hard" } },
    path: "thinking.type",
    says: 'one of "enabled", "disabled", "adaptive", "between_tools"; it is "hard"',
  },
  {
    rule: "choices 3: output_config and context_management are accepted as objects",
    good: {
      output_config: { effort: "high", format: { type: "json_schema", schema: {} } },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    },
    bad: { context_management: "all" },
    path: "context_management",
    says: "an object, or null",
  },
  {
    rule: "contract 2.10: tool_choice forms",
    good: { tool_choice: { type: "any", disable_parallel_tool_use: true } },
    bad: { tool_choice: { type: "required" } },
    path: "tool_choice.type",
    says: 'one of "auto", "any", "tool", "none"; it is "required"',
  },
  {
    rule: "contract 2.10: tool_choice of one tool has a name",
    good: { tool_choice: { type: "tool", name: "weather" } },
    bad: { tool_choice: { type: "tool" } },
    path: "tool_choice.name",
    says: "it is missing",
  },
  {
    rule: "contract 2.10: disable_parallel_tool_use is boolean",
    good: { tool_choice: { type: "auto", disable_parallel_tool_use: false } },
    bad: { tool_choice: { type: "auto", disable_parallel_tool_use: "no" } },
    path: "tool_choice.disable_parallel_tool_use",
    says: "true or false",
  },
];

describe("messages request fields", () => testRefusals(checkMessagesRequest, sound, rows));

test("contract 8: 100000 messages pass, one more is rejected without examining them", () => {
  const messages = Array.from({ length: 100_000 }, () => ({ role: "user", content: "a" }));
  expect(refusalOf(check, { ...sound, messages })).toBeUndefined();
  const begun = cpuMs();
  const refusal = refusalOf(check, { ...sound, messages: [...messages, { role: "user", content: "a" }] });
  expect(cpuMs() - begun).toBeLessThan(250);
  expect(refusal?.path).toBe("messages");
  expect(refusal?.message).toContain("an array of 1 to 100000 items; it has 100001 items");
});

test("choices 3: metadata, service_tier and unknown fields are accepted", () => {
  const body = { ...sound, metadata: { user_id: "u" }, service_tier: "auto", container: "c", mcp_servers: [{}] };
  expect(refusalOf(check, body)).toBeUndefined();
});

describe("count_tokens", () => {
  const count = (body: unknown) => checkCountTokensRequest(body, AT_CONTRACT_DOOR);
  const { max_tokens: _, ...counted } = sound;

  test("needs no max_tokens, so the budget has no upper limit", () => {
    expect(refusalOf(count, counted)).toBeUndefined();
    expect(refusalOf(count, { ...counted, thinking: { type: "enabled", budget_tokens: 90_000 } })).toBeUndefined();
  });

  test("checks the prompt like that of a message", () => {
    expect(refusalOf(count, { model: "acme/one" })?.path).toBe("messages");
    expect(refusalOf(count, { ...counted, tools: [{ name: "f" }] })?.path).toBe("tools[0].input_schema");
  });
});
