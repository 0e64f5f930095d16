import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { halfTransparent, plainPng } from "../../src/media/images.sample.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { lookAt, notesOf, receiptOf } from "./image-audit.ts";
import { type ImageHarness, STRICT_KEY, startImageHarness } from "./image-harness.ts";

const PROMPT = "a red fox in the snow";
const SEEDREAM = "bytedance/doubao-seedream-5-0-pro-260628";

let harness: ImageHarness;
beforeAll(async () => {
  harness = await startImageHarness();
});
afterAll(() => harness.stop());

async function post(path: string, body: object, key = TEST_KEY) {
  const response = await fetch(harness.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), receiptId: response.headers.get("x-trivium-receipt") };
}

function predict(model: string, body: { instance?: object; parameters?: object }) {
  const [publisher, name] = model.split("/");
  return post(`/api/genai/v1/publishers/${publisher}/models/${name}:predict`, {
    instances: [{ prompt: PROMPT, ...body.instance }],
    parameters: body.parameters ?? {},
  });
}

const generate = (body: object, key?: string) => post("/api/v1/images/generations", { prompt: PROMPT, ...body }, key);

interface StatedSettings {
  type?: string;
  b64_json: string;
  background: string;
  quality: string;
  size: string;
}

const eventsOf = (text: string): StatedSettings[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as StatedSettings);

describe("docs/media.md, what is billed: finished images, at the price of their real size", () => {
  test.each([
    [{ sampleImageSize: "1K" }, "png 1024x1024", 0.045],
    [{ sampleImageSize: "2K" }, "png 2048x2048", 0.09],
    [{ imageSize: "2048x1536" }, "png 2048x1536", 0.09],
  ])("%j makes %s for %d", async (parameters, image, cost) => {
    const { text, receiptId } = await predict(SEEDREAM, { parameters });
    const { predictions } = JSON.parse(text) as { predictions: { bytesBase64Encoded: string }[] };
    expect(await lookAt(predictions[0]?.bytesBase64Encoded)).toBe(image);
    expect((await receiptOf(harness, receiptId)).cost_usd).toBe(cost);
  });

  test("in a stream", async () => {
    const { text, receiptId } = await generate({ model: SEEDREAM, size: "2048x2048", stream: true });
    expect(eventsOf(text).at(-1)?.size).toBe("2048x2048");
    expect((await receiptOf(harness, receiptId)).cost_usd).toBe(0.09);
  });

  test("in a conversation", async () => {
    const [publisher, name] = SEEDREAM.split("/");
    const { receiptId } = await post(`/api/genai/v1/publishers/${publisher}/models/${name}:generateContent`, {
      contents: [{ role: "user", parts: [{ text: PROMPT }] }],
      generationConfig: { imageConfig: { imageSize: "2K" } },
    });
    expect((await receiptOf(harness, receiptId)).cost_usd).toBe(0.09);
  });

  test("contract 2.4, 8: an unsupported size is refused in each protocol, and costs nothing", async () => {
    const before = harness.simulator.stats().requests;
    const [publisher, name] = SEEDREAM.split("/");
    const conversation = await post(`/api/genai/v1/publishers/${publisher}/models/${name}:generateContent`, {
      contents: [{ role: "user", parts: [{ text: PROMPT }] }],
      generationConfig: { imageConfig: { imageSize: "4K" } },
    });
    const large = await predict(SEEDREAM, { parameters: { sampleImageSize: "4K" } });
    const exact = await predict(SEEDREAM, { parameters: { imageSize: "4096x4096" } });
    const streamed = await generate({ model: SEEDREAM, size: "4096x4096", stream: true });
    const paths = [
      "generationConfig.imageConfig.imageSize",
      "parameters.sampleImageSize",
      "parameters.imageSize",
      "size",
    ];
    for (const [index, { status, text }] of [conversation, large, exact, streamed].entries()) {
      expect(status).toBe(400);
      expect(text).toContain(`"${paths[index]}: ${SEEDREAM} `);
    }
    expect(JSON.parse(streamed.text)).toMatchObject({ error: { param: "size", type: "invalid_request_error" } });
    expect((await receiptOf(harness, conversation.receiptId)).cost_usd).toBe(0);
    expect(harness.simulator.stats().requests).toBe(before);
  });

  test("a conversation that requests its cost gets that of its receipt", async () => {
    const { text, receiptId } = await post("/api/v1/chat/completions", {
      model: SEEDREAM,
      messages: [{ role: "user", content: PROMPT }],
      usage: { include: true },
    });
    expect(JSON.parse(text)).toMatchObject({ usage: { cost: 0.045 } });
    expect((await receiptOf(harness, receiptId)).cost_usd).toBe(0.045);
  });
});

describe("contract 2.14, H09: partial images of a model that does not stream them", () => {
  const silent = ["own/glm-image", "bytedance/doubao-seedream-4-5-251128", "google/gemini-3-pro-image"];

  test.each(silent)("%s: one completed event and a note; refused in a strict call", async (model) => {
    const body = { model, stream: true, partial_images: 2 };
    const { text, receiptId } = await generate(body);
    expect(eventsOf(text).map(({ type }) => type)).toEqual(["image_generation.completed"]);
    expect(notesOf(await receiptOf(harness, receiptId))).toEqual(["dropped partial_images"]);
    const strict = await generate(body, STRICT_KEY);
    expect(strict.status).toBe(400);
    expect(JSON.parse(strict.text)).toMatchObject({ error: { param: "partial_images" } });
    expect((await generate({ ...body, partial_images: 0 }, STRICT_KEY)).status).toBe(200);
  });

  test("if they are streamed, nothing is noted", async () => {
    const { text, status } = await generate(
      { model: "openai/gpt-image-1", stream: true, partial_images: 2 },
      STRICT_KEY,
    );
    expect(status).toBe(200);
    expect(eventsOf(text)).toHaveLength(3);
  });
});

describe("contract 2.14, choices 5: a response states the settings of its images", () => {
  const OPTIONS = { size: "1024x1536", background: "transparent", quality: "low" };

  test.each([
    [
      "own/glm-image",
      { size: "1056x1568", quality: "low" },
      { size: "1056x1568", background: "auto", quality: "auto" },
    ],
    [
      "google/imagen-4.0-generate-001",
      { size: "1152x864", background: "opaque" },
      { size: "1280x896", background: "auto", quality: "auto" },
    ],
    [
      "own/cogview",
      { aspect_ratio: "3:4", quality: "medium" },
      { size: "864x1152", background: "auto", quality: "medium" },
    ],
    ["openai/gpt-image-1", OPTIONS, OPTIONS],
  ])("%s", async (model, options, stated) => {
    const answer = JSON.parse((await generate({ model, ...options })).text) as StatedSettings & {
      data: StatedSettings[];
    };
    expect(await lookAt(answer.data[0]?.b64_json)).toEndWith(` ${stated.size}`);
    // The vendor's non-streamed response cannot express what the model chose; its events can.
    const { size, background, quality } = answer;
    const known = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== "auto"));
    expect<object>(JSON.parse(JSON.stringify({ size, background, quality }))).toEqual(known);
    const events = eventsOf((await generate({ model, ...options, stream: true })).text);
    expect(events).toEqual([expect.objectContaining(stated)]);
  });

  test("a size that was not requested is that of the image", async () => {
    const answer = JSON.parse((await generate({ model: "google/gemini-3-pro-image", n: 2 })).text) as StatedSettings;
    expect(answer.size).toBe("1024x1024");
  });
});

describe("docs/media.md: an unsupported input or mask is refused", () => {
  const bytes = (base64: string) => ({ bytesBase64Encoded: base64, mimeType: "image/png" });
  const raw = {
    referenceType: "REFERENCE_TYPE_RAW",
    referenceId: 1,
    referenceImage: bytes(plainPng(64, 64).base64),
  };
  const ground = { referenceType: "REFERENCE_TYPE_MASK", maskImageConfig: { maskMode: "MASK_MODE_BACKGROUND" } };
  const subject = { ...raw, referenceType: "REFERENCE_TYPE_SUBJECT", referenceId: 2 };
  const mask = bytes(halfTransparent(64, 64).base64);

  test.each([
    ["a mask that the model is to find", { referenceImages: [raw, ground] }, "instances[0].referenceImages"],
    ["a subject", { referenceImages: [raw, subject] }, "instances[0].referenceImages"],
    ["a mask next to the image", { image: raw.referenceImage, mask }, "instances[0].mask"],
  ])("contract 2.4: %s", async (_, instance, field) => {
    for (const model of ["openai/gpt-image-1", "own/azure-image"]) {
      const before = harness.simulator.stats().requests;
      const { status, text } = await predict(model, { instance });
      expect(status).toBe(400);
      expect(text).toContain(`"field":"${field}"`);
      expect(harness.simulator.stats().requests).toBe(before);
    }
  });
});
