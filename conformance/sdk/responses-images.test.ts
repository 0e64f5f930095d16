import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAi from "openai";
import OpenAi5 from "openai-5";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { extra, failureOf } from "./support.ts";

/** Hosts of every protocol, none of which has the tool. */
const HOSTS: Readonly<Record<string, { kind: string; path: string; dialects?: string[] }>> = {
  chat: { kind: "openai-compatible", path: "/openai/v1" },
  messages: { kind: "anthropic", path: "/anthropic" },
  genai: { kind: "gemini", path: "/gemini" },
  converse: { kind: "bedrock", path: "/bedrock" },
  responses: { kind: "openai-compatible", path: "/openai/v1", dialects: ["responses"] },
};
const WIRES = Object.keys(HOSTS);
const FACTS = {
  context_length: 200_000,
  max_output_tokens: 64_000,
  input_modalities: ["text", "image"],
  output_modalities: ["text"],
  reasoning: true,
  pricings: { prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }] },
};

let simulator: Simulator;
let gateway: TestGateway;
let bare: TestGateway;

const config = (simulated: boolean) => ({
  simulator: simulated,
  responses: { image_model: "sim/image" },
  providers: Object.fromEntries(
    WIRES.map((wire) => {
      const { path, ...host } = HOSTS[wire] ?? { kind: "", path: "" };
      return [wire, { ...host, base_url: `${simulator.url}${path}`, api_key: "simulated" }];
    }),
  ),
  models: [
    // The simulator's image is free.
    ...(simulated
      ? [{ id: "sim/image", pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] } }]
      : []),
    ...WIRES.flatMap((wire) =>
      ["standard", "strict-thinker"].map((model) => ({
        id: `${wire}/${model}`,
        ...FACTS,
        offers: [{ provider: wire, model }],
      })),
    ),
  ],
});

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  gateway = await startTestGateway({ config: config(true) });
  bare = await startTestGateway({ config: config(false) });
});
afterAll(async () => {
  await gateway.stop();
  await bare.stop();
  await simulator.stop();
});

const ASKED = "Please use image_generation for a picture of Lisbon.";
const PNG = "iVBOR";
const settings = { size: "1024x1024", output_format: "png" } as const;
const tools: OpenAi.Responses.Tool[] = [{ type: "image_generation", ...settings }];

/** What was called, and its cost. */
async function used(): Promise<Record<string, { calls: number; failures: number; cost_nano_usd: number }>> {
  const response = await fetch(`${gateway.adminUrl}/api/usage?by=model`, {
    headers: { authorization: `Bearer ${gateway.adminSecret}` },
  });
  const { data } = (await response.json()) as {
    data: { group: string; calls: number; failures: number; cost_nano_usd: number }[];
  };
  return Object.fromEntries(data.map(({ group, ...sums }) => [group, sums]));
}

const open = (at = gateway) => new OpenAi({ baseURL: `${at.url}/v1`, apiKey: at.key, maxRetries: 0 });
const open5 = (at = gateway) => new OpenAi5({ baseURL: `${at.url}/v1`, apiKey: at.key, maxRetries: 0 });
const typesOf = (output: readonly { type: string }[]) =>
  output.map(({ type }) => type).filter((type) => type !== "reasoning");

describe.each(WIRES)("image_generation on a model called in %s", (wire) => {
  const model = `${wire}/standard`;

  test("openai 7: the image is an item of the response, and a separate call in the ledger", async () => {
    const before = await used();
    const { data, response } = await open().responses.create({ model, input: ASKED, tools }).withResponse();
    expect(typesOf(data.output)).toEqual(["image_generation_call", "message"]);
    const image = data.output.find(({ type }) => type === "image_generation_call");
    expect(image).toMatchObject({ status: "completed", output_format: "png", size: "1024x1024" });
    expect(String((image as { result?: string }).result)).toStartWith(PNG);
    expect(data.output_text).toContain("The image was made");
    expect(data.tools).toMatchObject(tools);
    expect(data.status).toBe("completed");
    const after = await used();
    expect((after["sim/image"]?.calls ?? 0) - (before["sim/image"]?.calls ?? 0)).toBe(1);
    expect((after[model]?.calls ?? 0) - (before[model]?.calls ?? 0)).toBe(2);
    expect((after["sim/image"]?.cost_nano_usd ?? 0) - (before["sim/image"]?.cost_nano_usd ?? 0)).toBe(40_000_000);
    const receipt = await gateway.receipt(response);
    expect(receipt.fields).toContainEqual(expect.objectContaining({ path: "tools[0]", action: "approximated" }));
  });

  test("openai 7: the helper's stream shows it as it is made, with previews, numbered without a gap", async () => {
    const events: OpenAi.Responses.ResponseStreamEvent[] = [];
    const stream = await open().responses.create({
      model,
      input: ASKED,
      tools: [{ type: "image_generation", ...settings, partial_images: 2 }],
      stream: true,
    });
    for await (const event of stream) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    const ofImage = events.filter(({ type }) => type.includes("image_generation_call")).map(({ type }) => type);
    expect(ofImage.at(0)).toBe("response.image_generation_call.in_progress");
    expect(ofImage.at(1)).toBe("response.image_generation_call.generating");
    expect(ofImage.at(-1)).toBe("response.image_generation_call.completed");
    expect(ofImage).toContain("response.image_generation_call.partial_image");
    expect(events.some(({ type }) => type === "response.function_call_arguments.delta")).toBe(false);
    const last = events.at(-1);
    if (last?.type !== "response.completed") throw new Error(`the stream ends in ${last?.type}`);
    expect(typesOf(last.response.output)).toEqual(["image_generation_call", "message"]);
    const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
    expect(done).toEqual(last.response.output);
    expect(last.response.usage?.total_tokens).toBeGreaterThan(0);
  });

  test("openai 5: the stream helper ends with the complete response", async () => {
    const answer = await open5()
      .responses.stream({ model, input: ASKED, tools: tools as OpenAi5.Responses.Tool[] })
      .finalResponse();
    expect(typesOf(answer.output)).toEqual(["image_generation_call", "message"]);
  });

  test("H01: a model that needs its thoughts back gets them between the image and its text", async () => {
    const answer = await open().responses.create({
      model: `${wire}/strict-thinker`,
      input: ASKED,
      tools,
      reasoning: { effort: "low", summary: "auto" },
    });
    expect(answer.status).toBe("completed");
    expect(typesOf(answer.output)).toEqual(["image_generation_call", "message"]);
  });

  test("the next turn builds on the response with the image", async () => {
    const first = await open().responses.create({ model, input: ASKED, tools });
    expect(extra(first, "store")).toBe(true);
    const kept = await open().responses.retrieve(first.id);
    expect(kept.output).toEqual(first.output);
    const next = await open().responses.create({ model, input: "Thank you.", previous_response_id: first.id, tools });
    expect(typesOf(next.output)).toEqual(["message"]);
  });

  test("R5: if no model makes images the tool is dropped, and the receipt says so", async () => {
    const { data, response } = await open(bare).responses.create({ model, input: ASKED, tools }).withResponse();
    expect(typesOf(data.output)).toEqual(["message"]);
    expect(response.headers.get("x-trivium-dropped")).toContain("tools[0]");
  });

  test("R5: a strict call is refused with the path of the tool", async () => {
    const strict = { headers: { "x-trivium-strict": "true" } };
    const error = await failureOf(open().responses.create({ model, input: ASKED, tools }, strict));
    expect(error).toMatchObject({ status: 400, param: "tools[0]" });
  });
});

test("a client's tool called next to it ends the response, for its result", async () => {
  const own: OpenAi.Responses.Tool = {
    type: "function",
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    strict: false,
  };
  const answer = await open().responses.create({
    model: "chat/standard",
    input: "Use get_weather and image_generation for Lisbon.",
    tools: [...tools, own],
  });
  expect(typesOf(answer.output).toSorted()).toEqual(["function_call", "image_generation_call"]);
});

test("the model learns that an image failed, and its item has failed", async () => {
  const answer = await open().responses.create({
    model: "chat/standard",
    input: ASKED,
    tools: [{ type: "image_generation", size: "1x1" as "1024x1024" }],
  });
  expect(answer.output).toMatchObject([{ type: "image_generation_call", status: "failed" }, { type: "message" }]);
  expect(answer.output_text).toContain("could not be made");
});

test("choosing the tool makes the model call it", async () => {
  const answer = await open().responses.create({
    model: "messages/standard",
    input: "A cat.",
    tools,
    tool_choice: { type: "image_generation" },
  });
  expect(typesOf(answer.output)).toEqual(["image_generation_call", "message"]);
});
