import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { ResponseInput, ResponseInputItem } from "openai/resources/responses/responses";
import { type Simulator, startSimulator } from "../../../simulator.ts";

const WEATHER = {
  type: "function" as const,
  name: "get_weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};

let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0, nowMs: () => 1_800_000_000_000 });
  client = new OpenAI({ apiKey: "any-key", baseURL: `${simulator.url}/openai/v1`, maxRetries: 0 });
});
afterAll(() => simulator.stop());

async function refusal(body: Record<string, unknown>): Promise<{ status: number; param: unknown; code: unknown }> {
  const response = await fetch(`${simulator.url}/openai/v1/responses`, {
    method: "POST",
    headers: { authorization: "Bearer any-key", "content-type": "application/json" },
    body: JSON.stringify({ model: "standard", input: "hi", ...body }),
  });
  const { error } = (await response.json()) as { error: { param: unknown; code: unknown } };
  return { status: response.status, param: error.param, code: error.code };
}

const THINKING = {
  model: "thinker",
  reasoning: { effort: "low" as const, summary: "auto" as const },
  include: ["reasoning.encrypted_content" as const],
  store: false,
};

describe("Responses through the vendor's SDK", () => {
  test("a text, whole and streamed: the same words, and usage at the end", async () => {
    const request = { model: "standard", input: "Guten Tag ✓" };
    const whole = await client.responses.create(request);
    expect(whole.output_text).toContain("Guten Tag ✓");
    expect(whole.status).toBe("completed");
    const streamed = await client.responses.stream(request).finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
    // The second time a part of the prompt comes from the cache.
    expect(streamed.usage?.total_tokens).toBe(whole.usage?.total_tokens ?? -1);
  });

  test("events are numbered without a gap, and end with the answer", async () => {
    const events = [];
    const stream = await client.responses.create({ model: "standard", input: "hello", stream: true });
    for await (const event of stream) events.push(event);
    expect(events.map((event) => ("sequence_number" in event ? event.sequence_number : -1))).toEqual(
      events.map((_, index) => index),
    );
    expect(events[0]?.type).toBe("response.created");
    expect(events.at(-1)?.type).toBe("response.completed");
  });

  test("a turn of a tool goes on with the sealed reasoning, under its own id alone (R10)", async () => {
    const input: ResponseInput = [{ role: "user", content: "Use get_weather for Paris" }];
    const first = await client.responses.create({ ...THINKING, input, tools: [WEATHER] });
    const [thought, call] = first.output;
    if (thought?.type !== "reasoning" || call?.type !== "function_call") throw new Error("no call after a thought");
    expect(thought.summary.length).toBe(1);
    const result = { type: "function_call_output" as const, call_id: call.call_id, output: "sunny" };
    const history = [...input, ...(first.output as ResponseInputItem[]), result];
    const second = await client.responses.create({ ...THINKING, input: history, tools: [WEATHER] });
    expect(second.output_text).toContain("sunny");
    // Clients that keep no ids send the sealed value alone (R4).
    const { id: _id, ...nameless } = thought;
    const third = await client.responses.create({
      ...THINKING,
      input: [...input, nameless as ResponseInputItem, call, result],
      tools: [WEATHER],
    });
    expect(third.output_text).toBe(second.output_text);
    const renamed = [...input, { ...thought, id: "rs_another" }, call, result];
    expect(await refusal({ ...THINKING, input: renamed })).toMatchObject({ code: "invalid_encrypted_content" });
    const bare = [...input, { type: "reasoning", id: thought.id, summary: [] }, call, result];
    expect(await refusal({ ...THINKING, input: bare })).toMatchObject({ status: 400, param: "input[1]" });
    expect(await refusal({ ...THINKING, input: [...input, thought] })).toMatchObject({ status: 400, param: "input" });
  });

  test("a search, a custom tool, and one in a namespace", async () => {
    const searched = await client.responses.create({
      model: "standard",
      input: "Please search for rivers",
      tools: [{ type: "web_search" }],
      include: ["web_search_call.action.sources"],
    });
    expect(searched.output.map(({ type }) => type)).toEqual(["web_search_call", "message"]);
    const custom = await client.responses.create({
      model: "standard",
      input: "Use lark_query on Readme",
      tools: [{ type: "custom", name: "lark_query" }],
    });
    expect(custom.output[0]).toMatchObject({ type: "custom_tool_call", name: "lark_query" });
    const spaced = (await client.responses.create({
      model: "standard",
      input: "Use get_weather for Paris",
      tools: [{ type: "namespace", name: "sky", description: "", tools: [WEATHER] } as never],
    })) as { output: unknown[] };
    expect(spaced.output[0]).toMatchObject({ type: "function_call", name: "get_weather", namespace: "sky" });
  });

  test("a prompt's tokens are counted", async () => {
    const { usage } = await client.responses.create({ model: "standard", input: "How long is this?" });
    const counted = await fetch(`${simulator.url}/openai/v1/responses/input_tokens`, {
      method: "POST",
      headers: { authorization: "Bearer any-key" },
      body: JSON.stringify({ model: "standard", input: "How long is this?" }),
    });
    expect(await counted.json()).toEqual({ object: "response.input_tokens", input_tokens: usage?.input_tokens });
  });
});

describe("what the host refuses", () => {
  const call = { type: "function_call", call_id: "c".repeat(65), name: "f", arguments: "{}" };
  const refused: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ["an unknown field", { max_tokens: 5 }, { param: "max_tokens", code: "unknown_parameter" }],
    ["R24: a limit below 16", { max_output_tokens: 5 }, { param: "max_output_tokens" }],
    ["R9: an id of 65 characters", { input: [call] }, { param: "input[0].call_id", code: "string_above_max_length" }],
    ["a result without its call", { input: [{ type: "function_call_output", call_id: "a", output: "" }] }, {}],
    ["a call without its result", { input: [{ ...call, call_id: "c" }] }, { param: "input" }],
    [
      "input_text in the assistant's mouth",
      { input: [{ role: "assistant", content: [{ type: "input_text", text: "a" }] }] },
      { param: "input[0].content[0].type" },
    ],
    [
      "R12: a previous response that it does not know",
      { previous_response_id: "resp_1" },
      { code: "previous_response_not_found" },
    ],
    ["a reference to what it did not keep", { input: [{ type: "item_reference", id: "rs_1" }] }, { param: "input[0]" }],
    ["a nested schema, as chat has it", { text: { format: { type: "json_schema", json_schema: {} } } }, {}],
    ["JSON that nothing speaks of", { text: { format: { type: "json_object" } } }, { param: "input" }],
    ["R34: an unknown model", { model: "nothing" }, { param: "model", code: "model_not_found" }],
    [
      "R25: a temperature for a model that reasons",
      { model: "reasoner-strict", temperature: 0.5 },
      { param: "temperature" },
    ],
  ];
  test.each(refused)("%s", async (_what, body, expected) => {
    expect(await refusal(body)).toMatchObject({ status: 400, ...expected });
  });
});
