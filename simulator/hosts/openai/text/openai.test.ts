import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../../simulator.ts";

const WEATHER = {
  type: "function" as const,
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 5 } },
      required: ["city", "days"],
    },
  },
};
const TIME = {
  type: "function" as const,
  function: { name: "get_time", parameters: { type: "object", properties: {} } },
};

// One red pixel.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0, nowMs: () => 1_800_000_000_000 });
  client = new OpenAI({ apiKey: "any-key", baseURL: `${simulator.url}/openai/v1`, maxRetries: 0 });
});
afterAll(() => simulator.stop());

const user = (content: string) => ({ role: "user" as const, content });

async function refusal(
  body: Record<string, unknown>,
): Promise<{ status: number; param: unknown; code: unknown; message: string }> {
  const response = await fetch(`${simulator.url}/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer any-key", "content-type": "application/json" },
    body: JSON.stringify({ model: "standard", messages: [user("hi")], ...body }),
  });
  const { error } = (await response.json()) as { error: { param: unknown; code: unknown; message: string } };
  return { status: response.status, param: error.param, code: error.code, message: error.message };
}

describe("contract 2.12 and 2.13: chat completions through the vendor's SDK", () => {
  test("the same request is answered with the same words, and says that it is a simulator", async () => {
    const ask = () => client.chat.completions.create({ model: "standard", messages: [user("Guten Tag")] });
    const [first, second] = [await ask(), await ask()];
    expect(first.choices[0]?.message.content).toContain("simulator");
    expect(first.choices[0]?.message.content).toContain("Guten Tag");
    expect(second.choices[0]?.message.content).toBe(first.choices[0]?.message.content ?? "");
    expect(second.id).toBe(first.id);
    expect(first.choices[0]?.finish_reason).toBe("stop");
  });

  test("the stream says what the whole answer says, with one usage chunk of no choices", async () => {
    const request = { model: "standard", messages: [user("stream this ✓")] };
    const whole = await client.chat.completions.create(request);
    const chunks = [];
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(
      whole.choices[0]?.message.content ?? "",
    );
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(whole.usage?.completion_tokens ?? -1);
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks.every((chunk) => "obfuscation" in chunk)).toBe(true);
  });

  test("H03: two calls of one function keep two ids and two indexes; results are quoted", async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [user("use get_weather for Paris, parallel")];
    const stream = client.chat.completions.stream({ model: "standard", messages, tools: [WEATHER, TIME] });
    const answer = (await stream.finalChatCompletion()).choices[0];
    const calls = answer?.message.tool_calls ?? [];
    expect(answer?.finish_reason).toBe("tool_calls");
    expect(calls.map((call) => call.type === "function" && call.function.name)).toEqual(["get_weather", "get_weather"]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    const input = JSON.parse(calls[0]?.type === "function" ? calls[0].function.arguments : "") as { days: number };
    expect(input.days).toBeGreaterThanOrEqual(1);
    expect(input.days).toBeLessThanOrEqual(5);
    messages.push({ role: "assistant", content: null, tool_calls: calls });
    for (const [at, call] of calls.entries())
      messages.push({ role: "tool", tool_call_id: call.id, content: `sunny ${at}` });
    const after = await client.chat.completions.create({ model: "standard", messages, tools: [WEATHER, TIME] });
    expect(after.choices[0]?.message.content).toContain("sunny 0");
    expect(after.choices[0]?.message.content).toContain("sunny 1");
  });

  test("tool_choice and parallel_tool_calls are obeyed", async () => {
    const ask = async (fields: object) => {
      const body = {
        model: "standard",
        messages: [user("get_weather and get_time")],
        tools: [WEATHER, TIME],
        ...fields,
      };
      const answer = await client.chat.completions.create(body);
      return (answer.choices[0]?.message.tool_calls ?? []).map(
        (call) => call.type === "function" && call.function.name,
      );
    };
    expect(await ask({})).toEqual(["get_weather", "get_time"]);
    expect(await ask({ parallel_tool_calls: false })).toEqual(["get_weather"]);
    expect(await ask({ tool_choice: "none" })).toEqual([]);
    expect(await ask({ tool_choice: { type: "function", function: { name: "get_time" } } })).toEqual(["get_time"]);
    expect(await ask({ messages: [user("hello")] })).toEqual([]);
    expect(await ask({ messages: [user("hello")], tool_choice: "required" })).toEqual(["get_weather"]);
  });

  test("a custom tool gets free text", async () => {
    const answer = await client.chat.completions.create({
      model: "standard",
      messages: [user("run_code print Hello")],
      tools: [{ type: "custom", custom: { name: "run_code" } }],
    });
    const call = answer.choices[0]?.message.tool_calls?.[0];
    expect(call?.type === "custom" && call.custom.input).toContain("Hello");
  });

  test("structured output is an instance of the schema", async () => {
    const schema = {
      type: "object",
      properties: { kind: { enum: ["a", "b"] }, tags: { type: "array", items: { type: "string" }, minItems: 2 } },
      required: ["kind", "tags"],
      additionalProperties: false,
    };
    const answer = await client.chat.completions.create({
      model: "standard",
      messages: [user("classify")],
      response_format: { type: "json_schema", json_schema: { name: "kinds", schema } },
    });
    const value = JSON.parse(answer.choices[0]?.message.content ?? "") as { kind: string; tags: string[] };
    expect(["a", "b"]).toContain(value.kind);
    expect(value.tags.length).toBeGreaterThanOrEqual(2);
    const json = await client.chat.completions.create({
      model: "standard",
      messages: [user("as json")],
      response_format: { type: "json_object" },
    });
    expect(JSON.parse(json.choices[0]?.message.content ?? "")).toMatchObject({ simulated: true });
  });

  test("stop and max_completion_tokens cut the text", async () => {
    const messages = [user("long")];
    const stopped = await client.chat.completions.create({ model: "standard", messages, stop: ["not a"] });
    expect(stopped.choices[0]?.message.content).toBe("This is Trivium's simulator speaking, ");
    expect(stopped.choices[0]?.finish_reason).toBe("stop");
    const short = await client.chat.completions.create({ model: "standard", messages, max_completion_tokens: 4 });
    expect(short.choices[0]?.finish_reason).toBe("length");
    expect(short.usage?.completion_tokens).toBe(4);
  });

  test("logprobs come with every token when they are asked for", async () => {
    const answer = await client.chat.completions.create({
      model: "standard",
      messages: [user("hi")],
      logprobs: true,
      top_logprobs: 3,
    });
    const content = answer.choices[0]?.logprobs?.content ?? [];
    expect(content.map((one) => one.token).join("")).toBe(answer.choices[0]?.message.content ?? "");
    expect(content[0]?.top_logprobs).toHaveLength(3);
    expect(content[0]?.logprob).toBeLessThan(0);
  });

  test("an image is looked at, and a wrong label is refused in the host's shape", async () => {
    const ask = (type: string) =>
      client.chat.completions.create({
        model: "standard",
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: `data:${type};base64,${PNG}` } }] },
        ],
      });
    expect((await ask("image/png")).choices[0]?.message.content).toContain("image/png of 1×1 pixels");
    const error = await ask("image/jpeg").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "invalid_image_format" });
  });

  test("thinking is asked for with reasoning_effort, or with reasoning where the model takes it", async () => {
    const thoughts: string[] = [];
    const stream = await client.chat.completions.create({
      model: "thinker",
      messages: [user("why")],
      reasoning_effort: "high",
      stream: true,
      stream_options: { include_usage: true },
    });
    let reasoningTokens = 0;
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined;
      if (delta?.reasoning_content !== undefined) thoughts.push(delta.reasoning_content);
      reasoningTokens = chunk.usage?.completion_tokens_details?.reasoning_tokens ?? reasoningTokens;
    }
    expect(thoughts.join("")).toContain("why");
    expect(reasoningTokens).toBeGreaterThan(0);
    expect((await refusal({ model: "standard", reasoning: { enabled: true } })).code).toBe("unknown_parameter");
    const body = { model: "thinker", messages: [user("why")], reasoning: { enabled: true } };
    const answer = await client.chat.completions.create(body as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(answer.choices[0]?.message).toHaveProperty("reasoning_content");
  });

  test("a strict thinker wants its reasoning_content back in a tool turn", async () => {
    const messages = [
      user("get_time"),
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "get_time", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "noon" },
    ];
    const missing = await refusal({ model: "strict-thinker", reasoning_effort: "low", tools: [TIME], messages });
    expect(missing).toMatchObject({ status: 400, param: "messages[1].reasoning_content" });
    const kept = messages.map((message) =>
      message.role === "assistant" ? { ...message, reasoning_content: "hm" } : message,
    );
    const answer = await client.chat.completions.create({
      model: "strict-thinker",
      reasoning_effort: "low",
      tools: [TIME],
      messages: kept as OpenAI.ChatCompletionMessageParam[],
    });
    expect(answer.choices[0]?.message.content).toContain("noon");
  });

  test("a simulated search comes with annotations that point at the cited text", async () => {
    const answer = await client.chat.completions.create({
      model: "standard",
      messages: [user("search for roads")],
      web_search_options: {},
    });
    const message = answer.choices[0]?.message;
    const citation = message?.annotations?.[0]?.url_citation;
    expect(citation?.url).toContain("example.org");
    expect(message?.content?.slice(citation?.start_index, citation?.end_index)).toContain("first simulated page");
  });

  test("a repeated prompt is counted as cached, and answered alike", async () => {
    const ask = () => client.chat.completions.create({ model: "standard", messages: [user("cache me once more")] });
    const [first, second] = [await ask(), await ask()];
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
    expect(second.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0);
    expect(second.choices).toEqual(first.choices);
  });

  test("models are listed", async () => {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    expect(names).toContain("standard");
    expect(names).toContain("cut-mid-event");
    expect((await client.models.retrieve("thinker")).id).toBe("thinker");
  });
});

describe("providers 1.1: what the host refuses", () => {
  test("keys", async () => {
    const wrong = new OpenAI({ apiKey: "a-wrong-key-entirely", baseURL: `${simulator.url}/openai/v1`, maxRetries: 0 });
    const error = await wrong.models.list().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ code: "invalid_api_key" });
    expect((error as Error).message).not.toContain("a-wrong-key-entirely");
  });

  test("fields that only a gateway knows, and fields of a wrong type", async () => {
    for (const name of ["provider", "usage", "reasoning", "model_routing_config", "top_k", "thinking"]) {
      const error = await refusal({ [name]: {} });
      expect(error).toEqual({
        status: 400,
        param: name,
        code: "unknown_parameter",
        message: `Unrecognized request argument supplied: ${name}`,
      });
    }
    expect(await refusal({ temperature: "hot" })).toMatchObject({
      status: 400,
      param: "temperature",
      code: "invalid_type",
    });
    expect(await refusal({ temperature: 3 })).toMatchObject({ param: "temperature", code: "decimal_above_max_value" });
    expect(await refusal({ messages: [] })).toMatchObject({ param: "messages", code: "empty_array" });
    expect(await refusal({ messages: [{ role: "robot", content: "" }] })).toMatchObject({ param: "messages[0].role" });
    expect(await refusal({ stop: ["1", "2", "3", "4", "5"] })).toMatchObject({ param: "stop" });
    expect(await refusal({ n: 2 })).toMatchObject({ param: "n" });
    expect(await refusal({ model: "gpt-5" })).toMatchObject({ status: 404, code: "model_not_found" });
  });

  test("tool messages without their calls, and calls without their tool messages", async () => {
    const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
    const orphan = await refusal({ messages: [user("hi"), { role: "tool", tool_call_id: "call_1", content: "x" }] });
    expect(orphan.message).toContain("must be a response to a preceeding message with 'tool_calls'");
    const unanswered = await refusal({
      messages: [user("hi"), { role: "assistant", tool_calls: [call] }, user("and?")],
    });
    expect(unanswered.message).toContain("did not have response messages: call_1");
    const other = await refusal({
      messages: [
        user("hi"),
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: "call_2", content: "x" },
      ],
    });
    expect(other.status).toBe(400);
  });

  test("a strict schema that is not closed, or leaves a property optional", async () => {
    const tool = (parameters: object) => ({
      tools: [{ type: "function", function: { name: "f", strict: true, parameters } }],
    });
    const open = await refusal(tool({ type: "object", properties: {} }));
    expect(open).toMatchObject({
      status: 400,
      param: "tools[0].function.parameters",
      code: "invalid_function_parameters",
    });
    const inner = { type: "object", properties: { a: { type: "string" } }, required: [], additionalProperties: false };
    const outer = { type: "object", properties: { in: inner }, required: ["in"], additionalProperties: false };
    expect((await refusal(tool(outer))).message).toContain("In context=('properties', 'in'), 'required'");
    const json_schema = { name: "s", strict: true, schema: inner };
    expect((await refusal({ response_format: { type: "json_schema", json_schema } })).param).toBe("response_format");
  });

  test("sampling parameters on a reasoning model", async () => {
    const model = "reasoner-strict";
    expect(await refusal({ model, max_tokens: 5 })).toMatchObject({
      param: "max_tokens",
      code: "unsupported_parameter",
    });
    expect(await refusal({ model, temperature: 0.5 })).toMatchObject({
      param: "temperature",
      code: "unsupported_value",
    });
    expect(await refusal({ model, top_p: 0.5 })).toMatchObject({ param: "top_p", code: "unsupported_parameter" });
    const answer = await client.chat.completions.create({ model, temperature: 1, messages: [user("hi")] });
    expect(answer.choices[0]?.message).not.toHaveProperty("reasoning_content");
    expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  });

  test("a prompt beyond the context length", async () => {
    const error = await refusal({ messages: [user("word ".repeat(210_000))] });
    expect(error).toMatchObject({ status: 400, code: "context_length_exceeded" });
  });
});
