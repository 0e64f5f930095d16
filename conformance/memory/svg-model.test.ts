import { beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { sdkFetch } from "../support/sdk-fetch.ts";

/** Decision 0104: the model that draws SVG images for a tool is checked, renamed and billed like the requested one. */

const NARROW = `sk-trv-${"n".repeat(43)}`;

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
        { ...models[0], id: "test/author", pricings, offers: [{ provider: "up-chat", model: "author-1" }] },
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "narrow", key: NARROW, models: ["test/responses"] },
      ],
    },
  });
});

const drawn = (model: string) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "upstream-model",
  output: [
    {
      type: "image_generation_call",
      id: "ig_1",
      status: "completed",
      quality: "low",
      output_format: "svg",
      result: "PHN2Zy8+",
      svg_usage: { model, input_tokens: 100, output_tokens: 20, reasoning_tokens: 15, total_tokens: 120 },
    },
  ],
  usage: { input_tokens: 30, output_tokens: 12, total_tokens: 42 },
});

const TOKENS = 30 * 1_000 + 12 * 2_000;
const IMAGE = 16_000_000;

async function ask(svg: object, { key = TEST_KEY, tools }: { key?: string; tools?: object[] } = {}) {
  const client = new OpenAI({
    baseURL: "http://gateway.test/v1",
    apiKey: key,
    maxRetries: 0,
    fetch: sdkFetch(harness),
  });
  const tool = { type: "image_generation" as const, quality: "low" as const, output_format: "svg" as const, svg };
  const asked = client.responses.create({
    model: "test/responses",
    input: "Draw a circle.",
    tools: (tools ?? [tool]) as OpenAI.Responses.Tool[],
  });
  return asked.then(
    () => "",
    (error: Error) => error.message,
  );
}

const sentTool = () => JSON.parse(harness.upstream.requests[0]?.body ?? "{}").tools?.[0] as object | undefined;
const lastReceipt = async () => (await harness.receipts()).at(-1);

describe("decision 0104: the model that draws", () => {
  test("is called by the provider's name and billed at its own price", async () => {
    harness.upstream.play(harness.upstream.json(drawn("author-1")));
    expect(await ask({ model: "test/author", reasoning: { effort: "low" } })).toBe("");
    expect(sentTool()).toMatchObject({ svg: { model: "author-1", reasoning: { effort: "low" } } });
    const receipt = await lastReceipt();
    expect([receipt?.cost_nano_usd, receipt?.unpriced ?? []]).toEqual([TOKENS + IMAGE + 120 * 10_000, []]);
  });

  test("has the price of the requested model, and a mark, if the catalogue does not know it", async () => {
    harness.upstream.play(harness.upstream.json(drawn("author-unknown")));
    expect(await ask({})).toBe("");
    const receipt = await lastReceipt();
    expect(receipt?.cost_nano_usd).toBe(TOKENS + IMAGE + 100 * 1_000 + 20 * 2_000);
    expect(receipt?.unpriced).toEqual(["svg_usage"]);
  });

  test("is left out where the provider does not offer it", async () => {
    harness.upstream.play(harness.upstream.json(drawn("upstream-model")));
    expect(await ask({ model: "test/messages", reasoning: null })).toBe("");
    expect(sentTool()).toMatchObject({ type: "image_generation", svg: { reasoning: null } });
    expect(sentTool()).not.toHaveProperty("svg.model");
    expect((await lastReceipt())?.fields).toMatchObject([{ path: "tools[0].svg.model", action: "dropped" }]);
  });

  test.each([
    [
      "a model that the key may not call",
      { svg: { model: "test/author" }, key: NARROW },
      "may not use the model test/author",
    ],
    ["an unknown model", { svg: { model: "test/none" } }, "tools[0].svg.model"],
    ["a name that is not text", { svg: { model: { id: "author-1" } } }, "tools[0].svg.model"],
    [
      "a model of a tool in a namespace",
      {
        svg: {},
        tools: [{ type: "namespace", name: "n", tools: [{ type: "image_generation", svg: { model: "author-1" } }] }],
      },
      "tools[0].tools[0].svg.model",
    ],
    [
      "a hosted tool in a namespace with another model",
      { svg: {}, tools: [{ type: "namespace", name: "n", tools: [{ type: "image_generation", model: "author-1" }] }] },
      "tools[0].tools[0].model",
    ],
  ])("%s is rejected before anything is sent", async (_, { svg, ...more }: { svg: object; key?: string }, message) => {
    harness.upstream.play();
    expect(await ask(svg, more)).toContain(message);
    expect(harness.upstream.requests).toHaveLength(0);
  });

  test("S07: a tool that an item adds must not name a model", async () => {
    harness.upstream.play();
    const tools = [{ type: "image_generation", svg: { model: "author-1" } }];
    const input = [
      { type: "additional_tools", role: "developer", tools },
      { role: "user", content: "Draw a circle." },
    ];
    const { status, text } = await harness.call("responses", { door: "dropin", body: { input } });
    expect([status, text]).toEqual([400, expect.stringContaining("input[0].tools[0].svg.model")]);
    expect(harness.upstream.requests).toHaveLength(0);
  });
});
