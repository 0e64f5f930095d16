import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/**
 * Image output in conversations (contract 2.6 responseModalities and imageConfig): native if the provider's model
 * answers in Google's dialect; for models that only make images, through their media API, in all three protocols.
 */
let simulator: Simulator;
let gateway: TestGateway;

const MODELS = [
  { id: "sim/image", size: [1024, 1024] },
  { id: "google/gemini-2.5-flash-image", size: [1024, 1024] },
  { id: "bytedance/doubao-seedream-4-0-250828", size: [2048, 2048] },
  { id: "black-forest-labs/flux-2-pro", size: [1024, 1024] },
] as const;

beforeAll(async () => {
  simulator = await startSimulator({ mediaJobMs: 30, tokenDelayMs: 0 });
  const host = (kind: string, path: string) => ({ kind, base_url: simulator.url + path, api_key: "upstream-key" });
  gateway = await startTestGateway({
    timings: { mediaPollFactor: 0.02 },
    config: {
      simulator: true,
      providers: {
        google: host("gemini", "/gemini"),
        ark: host("volcengine", "/hosts/volcengine/api/v3"),
        flux: host("black-forest-labs", "/hosts/black-forest-labs/v1"),
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

const genai = () =>
  new GoogleGenAI({
    apiKey: gateway.key,
    vertexai: true,
    httpOptions: { baseUrl: `${gateway.url}/api/genai`, apiVersion: "v1" },
  });
const chat = () => new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1`, maxRetries: 0 });
const messages = () => new Anthropic({ apiKey: gateway.key, baseURL: `${gateway.url}/api/msg`, maxRetries: 0 });

const sizeOf = async (base64: string) => {
  const { width, height } = await new Bun.Image(Buffer.from(base64, "base64")).metadata();
  return [width, height];
};

interface WithImages {
  images?: { type: string; image_url: { url: string } }[];
}

/** The images of a chat message, where this protocol's hosts put them. */
const chatImages = (message: WithImages | undefined): string[] =>
  (message?.images ?? []).map(({ image_url: { url } }) => url.slice(url.indexOf(",") + 1));

async function receiptOf(response: { headers: Headers }) {
  return gateway.receipt(response as Response);
}

describe.each([...MODELS])("contract 2.6: $id in conversation", ({ id, size }) => {
  test("generateContent returns the image as inlineData", async () => {
    const answer = await genai().models.generateContent({
      model: id,
      contents: "a red fox",
      config: { responseModalities: ["TEXT", "IMAGE"] },
    });
    const data = answer.candidates?.[0]?.content?.parts?.find((part) => part.inlineData)?.inlineData;
    expect(data?.mimeType).toStartWith("image/");
    expect(await sizeOf(data?.data ?? "")).toEqual([...size]);
  });

  test("streamGenerateContent ends with the image and a finish reason", async () => {
    const stream = await genai().models.generateContentStream({
      model: id,
      contents: "a red fox",
      config: { responseModalities: ["TEXT", "IMAGE"] },
    });
    const parts: string[] = [];
    let finish: string | undefined;
    for await (const chunk of stream) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? [])
        if (part.inlineData?.data) parts.push(part.inlineData.data);
      finish = chunk.candidates?.[0]?.finishReason ?? finish;
    }
    expect(finish as string).toBe("STOP");
    expect(await sizeOf(parts[0] ?? "")).toEqual([...size]);
  });

  test("chat completions return the image in message.images, streamed or not", async () => {
    const body = { model: id, messages: [{ role: "user" as const, content: "a red fox" }] };
    const { data, response } = await chat().chat.completions.create(body).withResponse();
    expect(data.choices[0]?.finish_reason).toBe("stop");
    expect(await sizeOf(chatImages(data.choices[0]?.message as WithImages)[0] ?? "")).toEqual([...size]);
    const receipt = await receiptOf(response);
    expect(receipt.cost_nano_usd).toBeGreaterThan(0);
    const streamed: string[] = [];
    for await (const chunk of await chat().chat.completions.create({ ...body, stream: true })) {
      streamed.push(...chatImages(chunk.choices[0]?.delta as WithImages | undefined));
    }
    expect(await sizeOf(streamed[0] ?? "")).toEqual([...size]);
  });
});

describe("contract 2.10: a messages response cannot contain an image", () => {
  test("it is stored, the text contains its URL, and the receipt says so", async () => {
    const { data, response } = await messages()
      .messages.create({ model: "sim/image", max_tokens: 100, messages: [{ role: "user", content: "a red fox" }] })
      .withResponse();
    const [block] = data.content;
    const url = block?.type === "text" ? /\((http[^)]+)\)/.exec(block.text)?.[1] : undefined;
    const image = await fetch(url ?? "");
    expect(image.headers.get("content-type")).toBe("image/png");
    expect(await sizeOf(Buffer.from(await image.bytes()).toString("base64"))).toEqual([1024, 1024]);
    const receipt = await receiptOf(response);
    expect(receipt.fields.map(({ path }) => path)).toEqual(["max_tokens", "answer.content"]);
    expect(receipt.usage["images"]).toBe(1);
  });
});

describe("a conversation with a model that only makes images", () => {
  test("imageConfig sets shape and level, candidateCount the count", async () => {
    const answer = await genai().models.generateContent({
      model: "bytedance/doubao-seedream-4-0-250828",
      contents: "a red fox",
      config: { responseModalities: ["IMAGE", "TEXT"], imageConfig: { aspectRatio: "16:9", imageSize: "1K" } },
    });
    const data = answer.candidates?.[0]?.content?.parts?.[0]?.inlineData?.data ?? "";
    const [width = 0, height = 1] = await sizeOf(data);
    expect(width / height).toBeCloseTo(16 / 9, 1);
  });

  test("images of the last message, or of the response before it, are edited", async () => {
    const first = await chat().chat.completions.create({
      model: "sim/image",
      messages: [{ role: "user", content: "a red fox" }],
    });
    const message = first.choices[0]?.message as WithImages & { role: "assistant"; content: string };
    const { data, response } = await chat()
      .chat.completions.create({
        model: "sim/image",
        messages: [{ role: "user", content: "a red fox" }, message as never, { role: "user", content: "now at night" }],
      })
      .withResponse();
    expect(chatImages(data.choices[0]?.message as WithImages)).toHaveLength(1);
    expect(simulator.stats().requests).toBeGreaterThanOrEqual(0);
    const receipt = await receiptOf(response);
    expect(receipt.fields).toEqual([expect.objectContaining({ path: "messages[0]", action: "dropped" }) as never]);
  });

  test("H09: ignored settings are noted, and refused in a strict call", async () => {
    const body = { model: "sim/image", temperature: 0.5, messages: [{ role: "user" as const, content: "a fox" }] };
    const { response } = await chat().chat.completions.create(body).withResponse();
    expect(response.headers.get("x-trivium-dropped")).toBe("temperature");
    const strict = chat().chat.completions.create(body, { headers: { "x-trivium-strict": "true" } });
    expect(
      await strict.then(
        () => "answered",
        (error: InstanceType<typeof OpenAI.APIError>) => [error.status, error.param],
      ),
    ).toEqual([400, "temperature"]);
  });

  test("contract 7: a blocked image has the protocol's own finish reason", async () => {
    const prompt = "a fox sim:moderated";
    const completion = await chat().chat.completions.create({
      model: "sim/image",
      messages: [{ role: "user", content: prompt }],
    });
    expect(completion.choices[0]?.finish_reason).toBe("content_filter");
    const answer = await genai().models.generateContent({ model: "sim/image", contents: prompt });
    expect(answer.candidates?.[0]?.finishReason as string).toMatch(/SAFETY|PROHIBITED/);
    const message = await messages().messages.create({
      model: "sim/image",
      max_tokens: 50,
      messages: [{ role: "user", content: prompt }],
    });
    expect(message.stop_reason).toBe("refusal");
  });

  test("a model that makes videos is refused, and the message names its endpoint", async () => {
    const wrong = chat().chat.completions.create({
      model: "sim/video",
      messages: [{ role: "user", content: "a fox" }],
    });
    const error = (await wrong.catch((thrown: unknown) => thrown)) as InstanceType<typeof OpenAI.APIError>;
    expect([error.status, error.param, error.code]).toEqual([400, "model", "model_not_supported"]);
    expect(error.message).toContain("sim/models/video:predictLongRunning");
  });

  test("a provider failure keeps its kind: busy, broken, overloaded", async () => {
    const ask = (outcome: string) =>
      chat()
        .chat.completions.create({ model: "sim/image", messages: [{ role: "user", content: `a fox sim:${outcome}` }] })
        .then(
          () => "answered",
          (error: InstanceType<typeof OpenAI.APIError>) => error.status,
        );
    expect([await ask("busy"), await ask("broken"), await ask("overloaded"), await ask("garbage")]).toEqual([
      429, 502, 503, 502,
    ]);
  });
});

const SILENT = ["sim/image", "sim/video", "bytedance/doubao-seedream-4-0-250828", "black-forest-labs/flux-2-pro"];

test.each(SILENT)("H11: no host counts tokens for %s, which makes no text, so they are estimated", async (model) => {
  const { totalTokens } = await genai().models.countTokens({ model, contents: "a cat in the rain" });
  expect(totalTokens).toBeGreaterThan(0);
  const counted = await messages().messages.countTokens({ model, messages: [{ role: "user", content: "a cat" }] });
  expect(counted.input_tokens).toBeGreaterThan(0);
});

test("the simulator's models are sim/image and sim/video; their former names still work, unlisted", async () => {
  const lists = await Promise.all(
    ["/api/v1/models", "/api/msg/v1/models", "/api/genai/v1beta/models"].map(async (path) =>
      (await fetch(gateway.url + path, { headers: { "partner-version": "2023-06-01" } })).text(),
    ),
  );
  for (const list of lists) {
    for (const name of ["sim/image", "sim/video"]) expect(list.split(`${name}"`)).toHaveLength(2);
    expect(list).not.toMatch(/sim\/(picture|film)"/);
  }
  const post = (path: string, body: object) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  for (const door of ["/api/v1", "/v1"]) {
    const image = await post(`${door}/images/generations`, { model: "sim/picture", prompt: "a fox" });
    expect(image.status).toBe(200);
    expect((await gateway.receipt(image)).model).toBe("sim/image");
  }
  const video = { instances: [{ prompt: "a fox" }], parameters: { durationSeconds: 4, resolution: "480p" } };
  const submitted = await post("/api/genai/v1/publishers/sim/models/film:predictLongRunning", video);
  expect(await submitted.json()).toEqual({ name: expect.stringContaining("publishers/sim/models/video/operations/") });
});
