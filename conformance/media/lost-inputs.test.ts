import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { halfTransparent, plainPng } from "../../src/media/images.sample.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ImageHarness, STRICT_KEY, startImageHarness } from "./image-harness.ts";

/**
 * Inputs and fields that a model does not support: each is noted by its path in the request, or refused (H09,
 * docs/media.md).
 */

const PAINTS = "openai/gpt-image-2";
const MASKLESS = "bytedance/doubao-seedream-4-5-251128";
const VIDEOS = "bytedance/doubao-seedance-2-0-260128";
const dataUrl = ({ base64 }: { base64: string }) => `data:image/png;base64,${base64}`;
const IMAGE = dataUrl(plainPng(320, 320));
const MASK = dataUrl(halfTransparent(320, 320));

let harness: ImageHarness;

beforeAll(async () => {
  harness = await startImageHarness();
});
afterAll(() => harness.stop());

async function ask(path: string, body: object, key: string) {
  const response = await fetch(harness.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { response, text, status: response.status, dropped: response.headers.get("x-trivium-dropped") };
}

const pathOf = (model: string, verb: string) => `/api/genai/v1/publishers/${model.replace("/", "/models/")}:${verb}`;

/** The call goes through with these notes; a strict one is refused by the first of them. */
async function expectNoted(path: string, body: object, fieldPaths: readonly string[]): Promise<void> {
  const answer = await ask(path, body, TEST_KEY);
  expect([answer.status, answer.dropped]).toEqual([200, fieldPaths.join(",")]);
  const { fields } = await harness.gateway.receipt(answer.response);
  expect(fields.map((field) => field.path)).toEqual([...fieldPaths]);
  const strict = await ask(path, body, STRICT_KEY);
  expect(strict.status).toBe(400);
  for (const fieldPath of fieldPaths) expect(strict.text).toContain(fieldPath);
}

async function expectRefused(path: string, body: object, fieldPath: string): Promise<void> {
  for (const key of [TEST_KEY, STRICT_KEY]) {
    const { status, text } = await ask(path, body, key);
    expect(status).toBe(400);
    expect(text).toContain(fieldPath);
  }
}

describe("H09: inputs of a conversation with a model that only makes images", () => {
  const generate = pathOf(PAINTS, "generateContent");
  const contents = (part: object) => ({ contents: [{ role: "user", parts: [{ text: "a fox" }, part] }] });
  const messages = (part: object) => ({
    model: PAINTS,
    messages: [{ role: "user", content: [{ type: "text", text: "a fox" }, part] }],
  });
  const chat = "/api/v1/chat/completions";

  test("an image in a bucket is refused", () =>
    expectRefused(
      generate,
      contents({ fileData: { fileUri: "gs://b/x.png", mimeType: "image/png" } }),
      "contents[0].parts[1]",
    ));

  test("a document is noted", () =>
    expectNoted(generate, contents({ inlineData: { mimeType: "application/pdf", data: "JVBERi0xLjQK" } }), [
      "contents[0].parts[1]",
    ]));

  test("a file id and audio are noted", async () => {
    await expectNoted(chat, messages({ type: "file", file: { file_id: "f" } }), ["messages[0].content[1]"]);
    const sound = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
    await expectNoted(chat, messages(sound), ["messages[0].content[1]"]);
  });
});

describe("H12, contract 4: a mask and an image in the JSON of images/generations", () => {
  const path = "/api/v1/images/generations";
  const body = (mask: unknown, model = PAINTS) => ({ model, prompt: "a hat", image: IMAGE, mask });

  test("it reaches the host, like that of an edit", async () => {
    for (const endpoint of [path, "/api/v1/images/edits"]) {
      expect(await ask(endpoint, body(MASK), STRICT_KEY)).toMatchObject({ status: 200, dropped: null });
      const sent = harness.simulator.stats().last;
      expect(sent?.path).toEndWith("/images/edits");
      expect(String(sent?.body).includes('name="mask"')).toBe(true);
    }
  });

  test("an invalid or unsupported one is refused", async () => {
    await expectRefused(path, body(12), "mask must be");
    await expectRefused(path, body(dataUrl(halfTransparent(64, 64))), "mask");
    await expectRefused(path, body(MASK, MASKLESS), "does not accept a mask");
    await expectRefused(path, { model: PAINTS, prompt: "a hat", mask: MASK }, "mask");
  });
});

describe("H09: fields that no provider knows are noted by their path in the request", () => {
  test("in predict, at any depth", () =>
    expectNoted(
      pathOf(PAINTS, "predict"),
      { instances: [{ prompt: "a fox", tone: 1, foo: 1 }], bar: 2, parameters: { foo: 3 } },
      ["instances[0].foo", "parameters.foo", "bar", "instances[0].tone"],
    ));

  test("in predictLongRunning", async () => {
    const answer = await ask(
      pathOf(VIDEOS, "predictLongRunning"),
      { instances: [{ prompt: "a fox", tone: 1 }], bar: 2, parameters: { foo: 3 } },
      TEST_KEY,
    );
    expect([answer.status, answer.dropped]).toEqual([200, "parameters.foo,bar,instances[0].tone"]);
  });

  test("in images/generations", () =>
    expectNoted("/api/v1/images/generations", { model: PAINTS, prompt: "a fox", foo: 1 }, ["foo"]));
});
