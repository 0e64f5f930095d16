import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type AssistantMessage,
  CHAT_GENERATIONS,
  type ChatBody,
  type ChatMessage,
  type Chunk,
  type FunctionCall,
  type FunctionTool,
} from "./openai-clients.ts";
import {
  collect,
  expectUpstreamStopped,
  failureOf,
  type Kind,
  receiptOf,
  type SimulatedGateway,
  startSimulatedGateway,
} from "./support.ts";

interface Door {
  name: string;
  path: string;
  kind: Kind;
  /** Hosts of this kind take the thoughts of a tool turn back; the vendor itself refuses them. */
  thinkingKind: Kind;
}

const DOORS: readonly Door[] = [
  { name: "contract door, provider openai", path: "/api/v1", kind: "openai", thinkingKind: "openai-compatible" },
  { name: "drop-in door, provider simulator", path: "/v1", kind: "simulator", thinkingKind: "simulator" },
];

const tool = (name: string): FunctionTool => ({
  type: "function",
  function: {
    name,
    description: `Looks up ${name} for a city.`,
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
});
const TOOLS = [tool("get_weather"), tool("get_time")];

const user = (content: string): ChatMessage => ({ role: "user", content });
const answered = (call: FunctionCall, content: string): ChatMessage => ({
  role: "tool",
  tool_call_id: call.id,
  content,
});

/** The calls of a message, as generation 7's types make their readers narrow them. */
function functionCalls(message: AssistantMessage): FunctionCall[] {
  return (message.tool_calls ?? []).map((call) => {
    if (call.function === undefined) throw new Error(`${call.type} call where a function call was expected`);
    return { id: call.id, type: "function", function: call.function };
  });
}

function onlyMessage({ choices }: { choices: { message: AssistantMessage }[] }): AssistantMessage {
  expect(choices).toHaveLength(1);
  const message = choices[0]?.message;
  if (message === undefined) throw new Error("no choice");
  return message;
}

/** A member that the package's types do not name. */
const extra = (holder: object | undefined, name: string): unknown => new Map(Object.entries(holder ?? {})).get(name);

const joined = (chunks: readonly Chunk[], read: (delta: Chunk["choices"][number]["delta"]) => unknown): string =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => read(delta) ?? "")).join("");

let stand: SimulatedGateway;
beforeAll(async () => {
  stand = await startSimulatedGateway();
});
afterAll(() => stand.stop());

for (const { version, errors, connect } of CHAT_GENERATIONS) {
  for (const { name, path, kind, thinkingKind } of DOORS) {
    describe(`openai ${version}, ${name}`, () => {
      const open = () =>
        connect({ baseURL: `${stand.gateway.url}${path}`, apiKey: stand.gateway.key, maxRetries: 0 });
      const asking = (content: string, model = "standard"): ChatBody => ({
        model: `${kind}/${model}`,
        messages: [{ role: "system", content: "Be brief." }, user(content)],
      });

      test("contract 2.13: an answer in one piece", async () => {
        const completion = await open().chat.completions.create(asking("Where do three roads meet?"));
        expect(completion).toMatchObject({ object: "chat.completion", model: `${kind}/standard` });
        expect(completion.choices[0]?.finish_reason).toBe("stop");
        expect(onlyMessage(completion).content).toContain("Where do three roads meet?");
        const usage = completion.usage;
        expect(usage?.completion_tokens).toBeGreaterThan(0);
        expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
        expect(completion._request_id).toMatch(/^req_/);
      });

      test("sdk-wire 3.1: a stream adds up to the same answer", async () => {
        const client = open();
        const whole = onlyMessage(await client.chat.completions.create(asking("Stream this, please.")));
        const chunks = await collect(
          await client.chat.completions.create({ ...asking("Stream this, please."), stream: true }),
        );
        expect(chunks.length).toBeGreaterThan(5);
        expect(joined(chunks, (delta) => delta.content)).toBe(whole.content ?? "");
        expect(chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason ?? "")).join("")).toBe(
          "stop",
        );
        expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set([`${kind}/standard`]));
      });

      test("decisions §3: the usage chunk comes when it is asked for, and only then", async () => {
        const client = open();
        const without = await collect(await client.chat.completions.create({ ...asking("Count."), stream: true }));
        expect(without.filter((chunk) => chunk.usage || chunk.choices.length === 0)).toEqual([]);
        const body = { ...asking("Count."), stream_options: { include_usage: true } };
        const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
        const last = chunks.at(-1);
        expect(last?.choices).toEqual([]);
        const { usage } = await client.chat.completions.create(asking("Count."));
        expect(last?.usage).toMatchObject({
          prompt_tokens: usage?.prompt_tokens,
          completion_tokens: usage?.completion_tokens,
          total_tokens: usage?.total_tokens,
        });
      });

      test("sdk-wire 3.1: the package's stream helper adds it up too", async () => {
        const client = open();
        const helped = client.addUp({ ...asking("Add me up."), stream_options: { include_usage: true } });
        const completion = await helped.finalChatCompletion();
        expect(completion.choices[0]?.finish_reason).toBe("stop");
        expect(completion.usage?.completion_tokens).toBeGreaterThan(0);
        const whole = await client.chat.completions.create(asking("Add me up."));
        expect(onlyMessage(completion).content).toBe(onlyMessage(whole).content);
      });

      test("contract 2.12: a tool is called, its result sent back, the answer uses it", async () => {
        const client = open();
        const body = { ...asking("Please use get_weather for Lisbon."), tools: TOOLS };
        const first = await client.chat.completions.create(body);
        expect(first.choices[0]?.finish_reason).toBe("tool_calls");
        const message = onlyMessage(first);
        const calls = functionCalls(message);
        expect(calls.map((call) => call.function.name)).toEqual(["get_weather"]);
        expect(JSON.parse(calls[0]?.function.arguments ?? "")).toEqual({ city: "Lisbon" });
        const messages = [
          ...body.messages,
          { ...message, tool_calls: calls },
          ...calls.map((call) => answered(call, "18 degrees and clear")),
        ];
        const second = await client.chat.completions.create({ ...body, messages });
        expect(second.choices[0]?.finish_reason).toBe("stop");
        expect(onlyMessage(second).content).toContain("get_weather answered “18 degrees and clear”");
      });

      test("sdk-wire 3.1: parallel calls, streamed through the helper, are answered each by its own result", async () => {
        const client = open();
        const body = { ...asking("Call get_weather and get_time in parallel for Lisbon."), tools: TOOLS };
        const helped = await client.addUp(body).finalChatCompletion();
        const message = onlyMessage(helped);
        const calls = functionCalls(message);
        expect(calls.map((call) => call.function.name)).toEqual(["get_weather", "get_time"]);
        expect(new Set(calls.map((call) => call.id)).size).toBe(2);
        expect(calls).toEqual(functionCalls(onlyMessage(await client.chat.completions.create(body))));
        const results = calls.map((call) => answered(call, `${call.function.name} says so`));
        const messages = [...body.messages, { ...message, tool_calls: calls }, ...results];
        const second = onlyMessage(await client.chat.completions.create({ ...body, messages }));
        expect(second.content).toContain("get_weather answered “get_weather says so”");
        expect(second.content).toContain("get_time answered “get_time says so”");
      });

      test("sdk-wire 3.1: parallel calls that a sloppy host puts on one index stay two", async () => {
        const body = { ...asking("Whatever.", "parallel-same-index"), tools: TOOLS };
        const calls = functionCalls(onlyMessage(await open().addUp(body).finalChatCompletion()));
        expect(calls.map((call) => call.function.name)).toEqual(["get_weather", "get_time"]);
        for (const call of calls) expect(JSON.parse(call.function.arguments)).toHaveProperty("city");
        expect(new Set(calls.map((call) => call.id)).size).toBe(2);
      });

      test("contract 2.13: thinking comes as reasoning and reasoning_content, whole and streamed alike", async () => {
        const client = open();
        const body: ChatBody = {
          ...asking("Think about it."),
          model: `${thinkingKind}/thinker`,
          reasoning_effort: "low",
        };
        const message = onlyMessage(await client.chat.completions.create(body));
        const thoughts = extra(message, "reasoning_content");
        expect(thoughts).toContain("Think about it.");
        expect(extra(message, "reasoning")).toBe(thoughts);
        const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
        expect(joined(chunks, (delta) => extra(delta, "reasoning_content"))).toBe(String(thoughts));
        expect(joined(chunks, (delta) => extra(delta, "reasoning"))).toBe(String(thoughts));
        expect(joined(chunks, (delta) => delta.content)).toBe(message.content ?? "");
      });

      test("contract 2.12: the thoughts of a tool turn go back with it, and a strict host accepts them", async () => {
        const client = open();
        const body: ChatBody = {
          ...asking("Please use get_weather for Lisbon."),
          model: `${thinkingKind}/strict-thinker`,
          reasoning_effort: "low",
          tools: TOOLS,
        };
        const message = onlyMessage(await client.chat.completions.create(body));
        expect(extra(message, "reasoning_content")).toContain("Lisbon");
        const calls = functionCalls(message);
        const results = calls.map((call) => answered(call, "18 degrees"));
        const continued = (turn: ChatMessage) => ({ ...body, messages: [...body.messages, turn, ...results] });
        const second = await client.chat.completions.create(continued({ ...message, tool_calls: calls }));
        expect(onlyMessage(second).content).toContain("get_weather answered “18 degrees”");
        const forgetful: ChatMessage = { role: "assistant", content: message.content, tool_calls: calls };
        const refused = await failureOf(client.chat.completions.create(continued(forgetful)));
        expect(refused.constructor).toBe(errors.BadRequestError);
        expect(refused).toMatchObject({ status: 400, type: "invalid_request_error" });
        expect(refused.message).toContain("reasoning_content");
      });

      test("contract 2.12: the service's own fields pass through the package", async () => {
        const client = open();
        const body: ChatBody = { ...asking("Think about it."), model: `${thinkingKind}/thinker` };
        const low = await client.chat.completions.create({ ...body, reasoning: { effort: "low" } });
        expect(extra(onlyMessage(low), "reasoning")).toContain("Think about it.");
        const hidden = onlyMessage(
          await client.chat.completions.create({ ...body, reasoning: { effort: "low", exclude: true } }),
        );
        expect(extra(hidden, "reasoning")).toBeUndefined();
        expect(extra(hidden, "reasoning_content")).toBeUndefined();
        const priced = await client.chat.completions.create({ ...asking("How much?"), usage: { include: true } });
        expect(extra(priced.usage ?? {}, "cost")).toBeNumber();
      });

      test("contract 2.12: reasoning {enabled: true} makes a thinking model think", async () => {
        const body: ChatBody = { ...asking("Think about it."), model: `${thinkingKind}/thinker` };
        const completion = await open().chat.completions.create({ ...body, reasoning: { enabled: true } });
        expect(extra(onlyMessage(completion), "reasoning")).toContain("Think about it.");
      });

      test("contract 2.12: structured output follows its schema", async () => {
        const schema = {
          type: "object",
          properties: { city: { type: "string" }, degrees: { type: "integer" }, sunny: { type: "boolean" } },
          required: ["city", "degrees", "sunny"],
          additionalProperties: false,
        };
        const completion = await open().chat.completions.create({
          ...asking("The weather in Lisbon, as JSON."),
          response_format: { type: "json_schema", json_schema: { name: "weather", strict: true, schema } },
        });
        expect(JSON.parse(onlyMessage(completion).content ?? "")).toEqual({
          city: expect.any(String),
          degrees: expect.any(Number),
          sunny: expect.any(Boolean),
        });
      });

      test("contract 2.9: models are listed, paged through, and shown one by one", async () => {
        const client = open();
        const listed = await client.models.list();
        const paged = await collect(client.models.list());
        expect(paged.map((model) => model.id)).toEqual(listed.data.map((model) => model.id));
        expect(paged.map((model) => model.id)).toContain(`${kind}/standard`);
        const one = await client.models.retrieve(`${kind}/standard`);
        expect(one).toMatchObject({ id: `${kind}/standard`, object: "model", owned_by: kind });
        expect(one).toEqual(listed.data.find((model) => model.id === one.id) ?? one);
        expect(extra(one, "display_name")).toBe("Simulator Standard");
        const missing = await failureOf(client.models.retrieve(`${kind}/standrad`));
        expect(missing.constructor).toBe(errors.NotFoundError);
        expect(missing).toMatchObject({ status: 404, code: "model_not_found" });
      });

      test("H13: leaving the loop in mid-stream stops the upstream", async () => {
        let receipt: string | null = null;
        await expectUpstreamStopped(stand, async () => {
          const body = { ...asking("A long story, please.", "slow"), stream: true as const };
          const { data, response } = await open().chat.completions.create(body).withResponse();
          receipt = response.headers.get("x-trivium-receipt");
          for await (const chunk of data) if (chunk.choices[0]?.delta.content) break;
        });
        expect(await receiptOf(stand, receipt)).toMatchObject({ stream: true, usage_source: "partial" });
      });

      test("H13: an abort signal in mid-stream, and before the first byte, stops the upstream", async () => {
        await expectUpstreamStopped(stand, async () => {
          const controller = new AbortController();
          const body = { ...asking("A long story, please.", "slow"), stream: true as const };
          const stream = await open().chat.completions.create(body, { signal: controller.signal });
          for await (const chunk of stream) if (chunk.choices[0]?.delta.content) controller.abort();
        });
        await expectUpstreamStopped(stand, async () => {
          const controller = new AbortController();
          const call = open().chat.completions.create(asking("Hello?", "slow-first-byte-3"), {
            signal: controller.signal,
          });
          const failure = failureOf(call);
          await Bun.sleep(100);
          controller.abort();
          expect((await failure).constructor).toBe(errors.APIUserAbortError);
        });
      });

      test("decisions §6: every answer carries its receipt", async () => {
        const client = open();
        const whole = await client.chat.completions.create(asking("Receipt, please.")).withResponse();
        const receipt = await receiptOf(stand, whole.response.headers.get("x-trivium-receipt"));
        expect(receipt).toMatchObject({
          model: `${kind}/standard`,
          provider: `patient-${kind}`,
          lane: "native",
          stream: false,
          usage_source: "measured",
          stop: { unified: "stop", raw: "stop" },
        });
        expect(receipt.usage["output"]).toBe(whole.data.usage?.completion_tokens ?? -1);
        const body = { ...asking("Receipt, please."), stream: true as const };
        const streamed = await client.chat.completions.create(body).withResponse();
        await collect(streamed.data);
        const second = await receiptOf(stand, streamed.response.headers.get("x-trivium-receipt"));
        expect(second).toMatchObject({ stream: true, usage_source: "measured" });
        expect(second.usage["output"]).toBe(whole.data.usage?.completion_tokens ?? -1);
        const raw = await client.chat.completions.create(asking("Receipt, please.")).asResponse();
        expect(raw.headers.get("x-trivium-receipt")).toMatch(/^rcp_/);
      });
    });
  }
}
