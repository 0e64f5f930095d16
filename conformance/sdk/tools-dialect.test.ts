import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Decision 0092: the vendor's own chat client with tools, at a model that accepts tools only in Responses. */

let simulator: Simulator;
let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await startTestGateway({
    config: {
      providers: { openai: { kind: "openai", base_url: `${simulator.url}/openai/v1`, api_key: "simulated-key" } },
      models: [
        {
          id: "acme/newest",
          reasoning: true,
          pricings: {},
          offers: [{ provider: "openai", model: "thinker", tools_dialect: "responses" }],
        },
      ],
    },
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

const TOOLS: OpenAI.Chat.ChatCompletionFunctionTool[] = [
  {
    type: "function",
    function: {
      name: "get_weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];
const ASKED: OpenAI.Chat.ChatCompletionMessageParam = { role: "user", content: "Please use get_weather for Lisbon." };

test("decision 0092: a tool is called, its result sent back, and the answer uses it", async () => {
  const { data: first, response } = await client.chat.completions
    .create({ model: "acme/newest", messages: [ASKED], tools: TOOLS })
    .withResponse();
  const message = first.choices[0]?.message;
  expect(message?.tool_calls).toMatchObject([{ type: "function", function: { name: "get_weather" } }]);
  expect((await gateway.receipt(response)).dialect).toEqual({ client: "chat", upstream: "responses" });
  const results = (message?.tool_calls ?? []).map((call) => ({
    role: "tool" as const,
    tool_call_id: call.id,
    content: "18 degrees and clear",
  }));
  const messages = [ASKED, ...(message === undefined ? [] : [message]), ...results];
  const second = await client.chat.completions.create({ model: "acme/newest", messages, tools: TOOLS });
  expect(second.choices[0]?.message.content).toContain("18 degrees and clear");
});

test("decision 0092: the same streamed, with the usage at the end", async () => {
  const stream = client.chat.completions.stream({
    model: "acme/newest",
    messages: [ASKED],
    tools: TOOLS,
    stream_options: { include_usage: true },
  });
  const whole = await stream.finalChatCompletion();
  expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
  expect(whole.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: "get_weather" } }]);
  expect(whole.usage?.total_tokens).toBeGreaterThan(0);
});
