import { describe, expect, test } from "bun:test";
import {
  AT_CONTRACT_DOOR,
  AT_DROPIN_DOOR,
  type RefusalCase,
  refusalOf,
  testRefusals,
} from "../../reading/refusal-table.ts";
import { checkResponsesRequest } from "./check-request.ts";

const check = (body: unknown, context = AT_CONTRACT_DOOR) => checkResponsesRequest(body, context);
const sound = { model: "acme/one", input: "Hello" };
const asked = { role: "user", content: "Hello" };

const rows: RefusalCase[] = [
  {
    rule: "model is required",
    good: {},
    bad: { model: undefined },
    path: "model",
    says: "must be a non-empty string",
  },
  {
    rule: "input is required",
    good: { input: [asked] },
    bad: { input: undefined },
    path: "input",
    says: "it is missing",
  },
  {
    rule: "input is optional only when a response is continued",
    good: { input: undefined, previous_response_id: "resp_1" },
    bad: { input: [] },
    path: "input",
    says: "it is empty",
  },
  {
    rule: "max_output_tokens is an integer or null",
    good: { max_output_tokens: null },
    bad: { max_output_tokens: 1.5 },
    path: "max_output_tokens",
    says: "must be an integer of at least 1, or null; it is 1.5",
  },
  {
    rule: "temperature",
    good: { temperature: 2 },
    bad: { temperature: 3 },
    path: "temperature",
    says: "a number from 0 to 2",
  },
  {
    rule: "a role that does not exist",
    good: { input: [{ ...asked, role: "developer" }] },
    bad: { input: [{ ...asked, role: "tool" }] },
    path: "input[0].role",
    says: 'must be one of "user", "assistant", "system", "developer"; it is "tool"',
  },
  {
    rule: "a message without content",
    good: { input: [asked] },
    bad: { input: [asked, { type: "message", role: "user" }] },
    path: "input[1].content",
    says: "it is missing",
  },
  {
    rule: "a call without call_id",
    good: { input: [asked, { type: "function_call", call_id: "a", name: "look", arguments: "{}" }] },
    bad: { input: [asked, { type: "function_call", name: "look", arguments: "{}" }] },
    path: "input[1].call_id",
    says: "it is missing",
  },
  {
    rule: "arguments are a string",
    good: {},
    bad: { input: [{ type: "function_call", call_id: "a", name: "look", arguments: {} }] },
    path: "input[0].arguments",
    says: "must be a string; it is an object",
  },
  {
    rule: "an id of 1,000 characters",
    good: { input: [{ type: "function_call_output", call_id: "c".repeat(86), output: "x" }] },
    bad: { input: [{ type: "function_call_output", call_id: "c".repeat(1000), output: "x" }] },
    path: "input[0].call_id",
    says: "it has 1000 characters",
  },
  {
    rule: "an item's id of 1,000 characters",
    good: {},
    bad: { input: [{ type: "reasoning", id: "r".repeat(1000), summary: [] }] },
    path: "input[0].id",
    says: "must be a string of 0 to 512 characters",
  },
  {
    rule: "a response format needs its schema",
    good: { text: { format: { type: "json_schema", name: "a", schema: {} } } },
    bad: { text: { format: { type: "json_schema", name: "a" } } },
    path: "text.format.schema",
    says: "it is missing",
  },
  {
    rule: "a function needs a name",
    good: { tools: [{ type: "function", name: "look" }] },
    bad: { tools: [{ type: "function", function: { name: "look" } }] },
    path: "tools[0].name",
    says: "it is missing",
  },
  {
    rule: "metadata has at most 16 pairs",
    good: { metadata: { a: "b" } },
    bad: { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"])) },
    path: "metadata",
    says: "it has 17 key-value pairs",
  },
  {
    rule: "metadata values are strings",
    good: {},
    bad: { metadata: { a: 1 } },
    path: "metadata.a",
    says: "must be a string",
  },
  {
    rule: "invalid base64",
    good: { input: [{ role: "user", content: [{ type: "input_image", image_url: "https://a.example/b.png" }] }] },
    bad: { input: [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,%%" }] }] },
    path: "input[0].content[0].image_url",
    says: "must be base64",
  },
  {
    rule: "an image without a source",
    good: {},
    bad: { input: [{ role: "user", content: [{ type: "input_image" }] }] },
    path: "input[0].content[0].image_url",
    says: "it is missing",
  },
  {
    rule: "a file without a source, in the output of a tool",
    good: {},
    bad: {
      input: [{ type: "function_call_output", call_id: "a", output: [{ type: "input_file", filename: "a.pdf" }] }],
    },
    path: "input[0].output[0].file_data",
    says: "it is missing",
  },
];

describe("invalid requests", () => {
  testRefusals(check, sound, rows);
});

test("R12: other kinds of state are rejected with what to use instead, never ignored, at both doors", () => {
  for (const context of [AT_CONTRACT_DOOR, AT_DROPIN_DOOR]) {
    const refusal = refusalOf(check, { ...sound, prompt: { id: "p" } }, context);
    expect(refusal?.kind).toBe("unsupported_parameter");
    expect(refusal?.path).toBe("prompt");
    expect(refusal?.message).toContain("instructions and input");
  }
});

test("decision 0109: a turn of a conversation needs no input, and continues nothing else", () => {
  for (const context of [AT_CONTRACT_DOOR, AT_DROPIN_DOOR]) {
    for (const conversation of ["conv_1", { id: "conv_1" }]) {
      expect(refusalOf(check, { model: sound.model, conversation }, context)).toBeUndefined();
      const both = { ...sound, conversation, previous_response_id: "resp_1" };
      expect(refusalOf(check, both, context)?.path).toBe("conversation");
    }
    expect(refusalOf(check, { ...sound, conversation: { id: 7 } }, context)?.path).toBe("conversation.id");
    expect(refusalOf(check, { ...sound, conversation: null }, context)).toBeUndefined();
  }
});

test("R5: unknown kinds of tools, items and parts are accepted, at both doors", () => {
  const request = {
    ...sound,
    input: [asked, { type: "compaction", encrypted_content: "x" }, { role: "user", content: [{ type: "hologram" }] }],
    tools: [{ type: "brand_new" }],
  };
  for (const context of [AT_CONTRACT_DOOR, AT_DROPIN_DOOR]) expect(refusalOf(check, request, context)).toBeUndefined();
});

test("R4: null values without a meaning are accepted", () => {
  const request = {
    ...sound,
    instructions: null,
    tools: null,
    tool_choice: null,
    reasoning: { effort: null, summary: null },
    metadata: null,
    include: null,
    text: null,
    previous_response_id: null,
    max_output_tokens: null,
  };
  expect(refusalOf(check, request)).toBeUndefined();
});

test("a history of 100,000 items is checked, which quadratic work would never end, and the invalid item is named", () => {
  const items = Array.from({ length: 100_000 }, (_, index) => ({
    type: "function_call",
    call_id: `c${index}`,
    name: "look",
    arguments: "{}",
  }));
  expect(refusalOf(check, { ...sound, input: items })).toBeUndefined();
  const wrong = refusalOf(check, {
    ...sound,
    input: items.with(99_999, { type: "function_call", call_id: "", name: "x", arguments: "" }),
  });
  expect(wrong?.path).toBe("input[99999].call_id");
});
