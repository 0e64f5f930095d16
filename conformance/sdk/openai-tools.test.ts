import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  CHAT_DOORS,
  CHAT_GENERATIONS,
  type ChatBody,
  type ChatMessage,
  type FunctionCall,
  type FunctionTool,
  functionCalls,
  joined,
  onlyMessage,
} from "./openai-clients.ts";
import { collect, extra, failureOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";
import { upstreamOf } from "./upstreams.ts";

const declare = (name: string): FunctionTool => ({
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
const TOOLS = [declare("get_weather"), declare("get_time")];

const answered = (call: FunctionCall, content: string): ChatMessage => ({
  role: "tool",
  tool_call_id: call.id,
  content,
});

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

for (const { version, errors, connect } of CHAT_GENERATIONS) {
  for (const { name, path, kind, thinkingKind } of CHAT_DOORS) {
    describe(`openai ${version}, ${name}`, () => {
      const upstream = upstreamOf(thinkingKind, "chat");
      const open = () =>
        connect({ baseURL: `${harness.gateway.url}${path}`, apiKey: harness.gateway.key, maxRetries: 0 });
      const asking = (content: string, model = "standard"): ChatBody => ({
        model: `${kind}/${model}`,
        messages: [{ role: "user", content }],
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

      test("sdks 3.1: parallel calls, streamed through the helper, each get their own result", async () => {
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

      test("contract 2.12: the package's own loop calls the functions and returns the answer", async () => {
        const called: string[] = [];
        const tools = TOOLS.map(({ type, function: declared }) => ({
          type,
          function: {
            ...declared,
            function: (input: string) => {
              called.push(`${declared.name} ${input}`);
              return `${declared.name} says so`;
            },
          },
        }));
        const runner = open().runTools({
          ...asking("Call get_weather and get_time in parallel for Lisbon."),
          tools,
        });
        expect(await runner.finalContent()).toContain("get_time answered “get_time says so”");
        expect(called.toSorted()).toEqual(['get_time {"city":"Lisbon"}', 'get_weather {"city":"Lisbon"}']);
      });

      test("sdks 3.1: parallel calls that a sloppy host puts on one index stay two", async () => {
        const body = { ...asking("Whatever.", "parallel-same-index"), tools: TOOLS };
        const calls = functionCalls(onlyMessage(await open().addUp(body).finalChatCompletion()));
        expect(calls.map((call) => call.function.name)).toEqual(["get_weather", "get_time"]);
        for (const call of calls) expect(JSON.parse(call.function.arguments)).toHaveProperty("city");
        expect(new Set(calls.map((call) => call.id)).size).toBe(2);
      });

      test("contract 2.13: thinking arrives as reasoning and reasoning_content, streamed or not", async () => {
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

      test("contract 2.12: the thoughts of a tool turn are returned with it, and a strict host accepts them", async () => {
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
        const without = client.chat.completions.create(continued(forgetful));
        if (!upstream.native && upstream.signs !== "calls") {
          // In translation such a turn is sent without thinking, since clients of this protocol need not know signed
          // thoughts.
          expect(onlyMessage(await without).content).toContain("get_weather answered “18 degrees”");
          return;
        }
        const refused = await failureOf(without);
        expect(refused.constructor).toBe(errors.BadRequestError);
        expect(refused).toMatchObject({ status: 400, type: "invalid_request_error" });
        expect(refused.message).toContain(upstream.native ? "reasoning_content" : "thought_signature");
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
    });
  }
}
