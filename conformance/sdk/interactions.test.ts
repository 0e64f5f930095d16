import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ApiError, GoogleGenAI, type Interactions } from "@google/genai";
import { eventually } from "../../testing/eventually.ts";
import { receiptOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";

/** The Interactions API through the vendor's own package, on models of every other protocol. */

const WEATHER: Interactions.Tool = {
  type: "function",
  name: "get_weather",
  description: "The weather in a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

let harness: SimulatedGateway;
let client: GoogleGenAI;
beforeAll(async () => {
  harness = await startSimulatedGateway();
  client = new GoogleGenAI({ apiKey: harness.gateway.key, httpOptions: { baseUrl: harness.gateway.url } });
});
afterAll(() => harness.stop());

const MODELS = ["openai/standard", "anthropic/standard", "gemini/standard", "simulator/standard"];

const receipt = (answer: { sdkHttpResponse?: { headers?: Record<string, string> } }) =>
  receiptOf(harness, answer.sdkHttpResponse?.headers?.["x-trivium-receipt"]);

async function eventsOf(request: Parameters<typeof client.interactions.create>[0]) {
  const stream = await client.interactions.create({ ...request, stream: true } as never);
  const events: Interactions.InteractionSSEEvent[] = [];
  for await (const event of stream as unknown as AsyncIterable<Interactions.InteractionSSEEvent>) events.push(event);
  return events;
}

describe.each(MODELS)("an interaction with %s", (model) => {
  test("is answered, with usage and a receipt", async () => {
    const answer = await client.interactions.create({ model, input: "Where do three roads meet?" });
    expect(answer.status).toBe("completed");
    expect(answer.model).toBe(model);
    expect(answer.id).toMatch(/^v1_/);
    expect(answer.output_text).toContain("Where do three roads meet?");
    const { total_input_tokens: input = 0, total_output_tokens: output = 0, total_tokens: total } = answer.usage ?? {};
    expect(output).toBeGreaterThan(0);
    expect(total).toBe(input + output);
    expect(await receipt(answer)).toMatchObject({
      dialect: { client: "interactions" },
      stop: { unified: "stop" },
      usage: { output },
    });
  });

  test("is streamed step by step", async () => {
    const events = await eventsOf({ model, input: "Where do three roads meet?" });
    const types = events.map((event) => event.event_type);
    expect(types[0]).toBe("interaction.created");
    expect(types.at(-1)).toBe("interaction.completed");
    const text = events.flatMap((event) =>
      event.event_type === "step.delta" && event.delta.type === "text" ? [event.delta.text] : [],
    );
    expect(text.length).toBeGreaterThan(1);
    expect(text.join("")).toContain("Where do three roads meet?");
    const last = events.at(-1);
    expect(last?.event_type === "interaction.completed" && last.interaction.usage?.total_output_tokens).toBeGreaterThan(
      0,
    );
  });
});

describe.each(MODELS)("tools with %s", (model) => {
  const input = "get_weather in Pisa";

  test("a call requires action, and its result continues the stored interaction", async () => {
    const first = await client.interactions.create({ model, input, tools: [WEATHER] });
    expect(first.status).toBe("requires_action");
    const call = first.steps.find((step) => step.type === "function_call");
    if (call?.type !== "function_call") throw new Error("no call");
    expect(call).toMatchObject({ name: "get_weather", arguments: { city: expect.any(String) } });
    const second = await client.interactions.create({
      model,
      previous_interaction_id: first.id,
      input: [{ type: "function_result", call_id: call.id, name: call.name, result: "rain" }],
      tools: [WEATHER],
    });
    expect(second.status).toBe("completed");
    expect(second.output_text).toContain("rain");
    expect(second.previous_interaction_id).toBe(first.id);
  });

  test("a streamed call has its arguments in one delta, and its steps can be sent back without the store", async () => {
    const events = await eventsOf({ model, input, tools: [WEATHER], store: false });
    const steps: Record<string, unknown>[] = [];
    for (const event of events) {
      if (event.event_type === "step.start") steps[event.index] = { ...event.step };
      if (event.event_type === "step.delta" && event.delta.type === "arguments_delta")
        steps[event.index] = { ...steps[event.index], arguments: JSON.parse(event.delta.arguments ?? "") };
    }
    const call = steps.find((step) => step["type"] === "function_call");
    expect(call).toMatchObject({ name: "get_weather", arguments: { city: expect.any(String) } });
    const second = await client.interactions.create({
      model,
      store: false,
      input: [
        { type: "user_input", content: [{ type: "text", text: input }] },
        ...(steps as unknown as Interactions.Step[]),
        { type: "function_result", call_id: String(call?.["id"]), result: { sky: "rain" } },
      ],
      tools: [WEATHER],
    });
    expect(second.output_text).toContain("rain");
  });

  test("a response schema", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const answer = await client.interactions.create({
      model,
      input: "Where?",
      response_format: { type: "text", mime_type: "application/json", schema },
    });
    expect(JSON.parse(answer.output_text ?? "")).toEqual({ city: expect.any(String) });
  });

  test("images, documents and audio in the prompt", async () => {
    const answer = await client.interactions.create({
      model,
      input: [
        { type: "text", text: "What is this?" },
        { type: "image", data: PNG, mime_type: "image/png" },
      ],
    });
    expect(answer.output_text).toContain("image/png of 1×1 pixels");
  });

  test("a limit ends the response as incomplete", async () => {
    const answer = await client.interactions.create({
      model,
      input: "x",
      generation_config: { max_output_tokens: 16 },
    });
    expect(answer.status).toBe("incomplete");
  });
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe.each(["anthropic/thinker", "gemini/thinker", "openai/thinker", "simulator/thinker"])(
  "thoughts of %s",
  (model) => {
    const thinking = { thinking_level: "low", thinking_summaries: "auto" } as const;

    test("are steps, whole and streamed", async () => {
      const answer = await client.interactions.create({ model, input: "Think.", generation_config: thinking });
      expect(answer.steps.map(({ type }) => type)).toContain("thought");
      expect(answer.usage?.total_thought_tokens).toBeGreaterThan(0);
      const events = await eventsOf({ model, input: "Think.", generation_config: thinking });
      const deltas = events.flatMap((event) => (event.event_type === "step.delta" ? [event.delta.type] : []));
      expect(deltas.some((type) => type === "thought_summary" || type === "thought_signature")).toBe(true);
    });
  },
);

describe.each(["anthropic/strict-thinker", "gemini/strict-thinker", "simulator/strict-thinker"])(
  "H01: signatures of %s",
  (model) => {
    const generation_config = { thinking_level: "low", thinking_summaries: "none" } as const;
    const input = "get_weather in Pisa";

    test.each([true, false])("come back with a result, stored: %p", async (store) => {
      const first = await client.interactions.create({ model, input, tools: [WEATHER], generation_config, store });
      const call = first.steps.find((step) => step.type === "function_call");
      if (call?.type !== "function_call") throw new Error("no call");
      const result: Interactions.Step = { type: "function_result", call_id: call.id, result: "rain" };
      const second = await client.interactions.create({
        model,
        ...(store ? { previous_interaction_id: first.id } : {}),
        store,
        input: store
          ? [result]
          : [{ type: "user_input", content: [{ type: "text", text: input }] }, ...first.steps, result],
        tools: [WEATHER],
        generation_config,
      });
      expect(second.output_text).toContain("rain");
    });
  },
);

describe("the stored state", () => {
  const model = "openai/standard";
  const failure = async (call: Promise<unknown>) =>
    (await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )) as ApiError;

  test("an interaction can be continued, shown and deleted, streamed or not", async () => {
    const events = await eventsOf({ model, input: "Remember the word quince." });
    const created = events[0];
    const id = created?.event_type === "interaction.created" ? created.interaction.id : "";
    const next = await client.interactions.create({ model, input: "Which word?", previous_interaction_id: id });
    expect(next.output_text).toContain("Which word?");
    const shown = await client.interactions.get(id);
    expect(shown).toMatchObject({ id, status: "completed", model });
    expect(shown.output_text).toContain("quince");
    const whole = await client.interactions.get(id, { include_input: true });
    expect(whole.input).toEqual([
      { type: "user_input", content: [{ type: "text", text: "Remember the word quince." }] },
    ]);
    await client.interactions.delete(id);
    expect((await failure(client.interactions.get(id))).status).toBe(404);
    const gone = await failure(client.interactions.create({ model, input: "?", previous_interaction_id: next.id }));
    expect(gone.status).toBe(400);
    expect(gone.message).toContain("previous_interaction_id");
  });

  test("nothing is stored with store: false", async () => {
    const { id } = await client.interactions.create({ model, input: "Forget this.", store: false });
    expect((await failure(client.interactions.get(id))).status).toBe(404);
  });

  test("a response of another protocol is not an interaction", async () => {
    const answer = await fetch(`${harness.gateway.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${harness.gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, input: "Hello" }),
    });
    const { id } = (await answer.json()) as { id: string };
    expect((await failure(client.interactions.get(id))).status).toBe(404);
    expect((await failure(client.interactions.create({ model, input: "?", previous_interaction_id: id }))).status).toBe(
      400,
    );
  });

  test("a background interaction is polled, and can be cancelled only while it is in progress", async () => {
    const begun = await client.interactions.create({ model, input: "Take your time.", background: true });
    expect(begun.status).toBe("queued");
    const shown = await eventually("the end", async () => {
      const polled = await client.interactions.get(begun.id);
      return polled.status === "completed" ? polled : undefined;
    });
    expect(shown.output_text).toContain("Take your time.");
    expect((await failure(client.interactions.cancel(begun.id))).status).toBe(400);
    const slow = await client.interactions.create({ model: "openai/slow", input: "Take your time.", background: true });
    expect((await client.interactions.cancel(slow.id)).status).toBe("cancelled");
    expect((await client.interactions.get(slow.id)).status).toBe("cancelled");
  });

  test("the stream of a background interaction can be resumed after an event", async () => {
    const events = await eventsOf({ model, input: "Take your time.", background: true });
    const created = events[0];
    const id = created?.event_type === "interaction.created" ? created.interaction.id : "";
    expect(events.map(({ event_id }) => event_id)).toEqual(events.map((_event, index) => String(index)));
    const rest: Interactions.InteractionSSEEvent[] = [];
    const stream = await client.interactions.get(id, { stream: true, last_event_id: "2" });
    for await (const event of stream) rest.push(event);
    expect(rest).toEqual(events.slice(3));
  });
});

describe("errors", () => {
  const errorOf = async (request: object, url = harness.gateway.url): Promise<ApiError> => {
    const open = new GoogleGenAI({ apiKey: harness.gateway.key, httpOptions: { baseUrl: url } });
    return (await open.interactions.create(request as never, { retries: { strategy: "none" } } as never).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )) as ApiError;
  };

  test.each([
    ["agent", { agent: "deep-research-pro-preview-12-2025", model: "openai/standard" }],
    ["agent", { agent: "deep-research-pro-preview-12-2025" }],
    ["environment", { environment: "env_1" }],
    ["webhook_config", { webhook_config: { uris: ["https://example.org"] } }],
    ["continuation_token", { continuation_token: "abc" }],
    ["input", { input: "" }],
    ["generation_config.max_output_tokens", { generation_config: { max_output_tokens: 0 } }],
    ["input.mime_type", { input: { type: "image", data: "AAAA" } }],
  ])("a request is refused at %s: %j", async (path, more) => {
    const error = await errorOf({ model: "openai/standard", input: "Hello", ...more });
    expect(error.status).toBe(400);
    expect(error.message).toContain(path);
  });

  test("in the vendor's form, with the path of the field", async () => {
    const answer = await fetch(`${harness.gateway.url}/v1beta/interactions`, {
      method: "POST",
      headers: { "x-goog-api-key": harness.gateway.key, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/standard" }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: expect.stringContaining("input"),
        details: [expect.objectContaining({ fieldViolations: [expect.objectContaining({ field: "input" })] })],
      },
    });
  });

  test.each([
    ["openai/fail-429", 429],
    ["openai/fail-400", 400],
    ["openai/no-such-model", 404],
  ])("of %s", async (model, status) => {
    expect((await errorOf({ model, input: "Hello" })).status).toBe(status);
    expect((await errorOf({ model, input: "Hello", stream: true })).status).toBe(status);
  });

  test("inside a stream", async () => {
    const events = await eventsOf({ model: "openai/error-in-stream", input: "Hello" });
    expect(events.at(-1)).toMatchObject({ event_type: "error", error: { code: expect.any(String) } });
  });
});
