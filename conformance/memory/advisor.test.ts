import { beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { sdkFetch } from "../support/sdk-fetch.ts";

/** Decision 0102: a tool of the host may call another model if the key may call it and the provider offers it. */

const NARROW = `sk-trv-${"n".repeat(43)}`;
const BUDGETED = `sk-trv-${"b".repeat(43)}`;

let harness: Harness;
beforeAll(async () => {
  const { models, ...config } = modelsOfEveryDialect(UPSTREAM_URL) as { models: object[] };
  const dear = [{ value: 10, unit: "perMTokens", currency: "USD" }];
  const pricings = { prompt: dear, completion: dear };
  harness = await Harness.start({
    config: {
      ...config,
      models: [
        ...models,
        { ...models[1], id: "test/wise", pricings, offers: [{ provider: "up-messages", model: "wise-1" }] },
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "narrow", key: NARROW, models: ["test/messages"] },
        { name: "budgeted", key: BUDGETED, limits: { budget_usd_per_day: 1 } },
      ],
    },
  });
});

const pass = (type: string, input_tokens: number, output_tokens: number, more: object = {}) => ({
  type,
  input_tokens,
  output_tokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: null,
  ...more,
});

/** As recorded: the usage of the whole leaves the advisor's pass out. */
const ADVISED = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "upstream-model",
  content: [
    { type: "server_tool_use", id: "srvtoolu_1", name: "advisor", input: {} },
    {
      type: "advisor_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { type: "advisor_result", text: "4.", stop_reason: "end_turn" },
    },
    { type: "text", text: "4" },
  ],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: {
    input_tokens: 30,
    output_tokens: 12,
    iterations: [pass("message", 10, 6), pass("advisor_message", 100, 5, { model: "wise-1" }), pass("message", 20, 6)],
  },
};

async function ask(model: string, tool: object = {}, key = TEST_KEY) {
  const client = new Anthropic({
    baseURL: "http://gateway.test",
    authToken: key,
    apiKey: null,
    maxRetries: 0,
    fetch: sdkFetch(harness),
  });
  const advisor = { type: "advisor_20260301" as const, name: "advisor" as const, model: "test/wise", ...tool };
  const asked = client.beta.messages.create({
    model,
    max_tokens: 100,
    messages: [{ role: "user", content: "2 + 2?" }],
    tools: [advisor, { name: "f", input_schema: { type: "object" } }],
    betas: ["advisor-tool-2026-03-01"],
  });
  return asked.then(
    (message) => ({ message, error: "" }),
    (error: Error) => ({ message: undefined, error: error.message }),
  );
}

const sentTools = () => JSON.parse(harness.upstream.requests[0]?.body ?? "{}").tools as object[] | undefined;
const lastReceipt = async () => (await harness.receipts()).at(-1);

describe("decision 0102: the advisor", () => {
  test.each([TEST_KEY, BUDGETED])("is called by the provider's name and billed at its price", async (key) => {
    harness.upstream.play(harness.upstream.json(ADVISED));
    const { message, error } = await ask("test/messages", { max_uses: 1 }, key);
    expect([error, message?.content.length, message?.usage.iterations?.length]).toEqual(["", 3, 3]);
    expect(sentTools()).toMatchObject([{ model: "wise-1", max_uses: 1 }, { name: "f" }]);
    const receipt = await lastReceipt();
    // 30 + 12 tokens of the model, 100 + 5 of the advisor.
    expect([receipt?.cost_nano_usd, receipt?.unpriced ?? []]).toEqual([30_000 + 24_000 + 1_050_000, []]);
  });

  test("is left out where the provider does not offer its model", async () => {
    harness.upstream.play(harness.upstream.json(ADVISED));
    await ask("test/messages", { model: "test/chat" });
    expect(sentTools()).toMatchObject([{ name: "f" }]);
    expect((await lastReceipt())?.fields).toMatchObject([{ path: "tools[0]", action: "dropped" }]);
  });

  test.each([
    ["a model that the key may not call", { key: NARROW }, "may not use the model test/wise"],
    ["an unknown model", { tool: { model: "test/none" } }, "tools[0].model"],
  ])("%s is rejected before anything is sent", async (_, { tool, key }: { tool?: object; key?: string }, message) => {
    harness.upstream.play();
    expect((await ask("test/messages", tool, key)).error).toContain(message);
    expect(harness.upstream.requests).toHaveLength(0);
  });
});
