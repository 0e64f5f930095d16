import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import FifthOpenAI from "openai-5";
import { GatewayError } from "../../canon/error.ts";
import { decodeEditBody, decodeGeneration } from "./decode-images.ts";
import { encodeImages } from "./encode-images.ts";
import { createImageEventEncoder } from "./image-events.ts";

const MINIMAL = { model: "acme/paint", prompt: "a fox" };
const PNG = { mimeType: "image/png", base64: "iVBORw==" };
const JPEG = { mimeType: "image/jpeg", base64: "/9j/" };
const TOKENS = { input: 10, imageInput: 100, output: 40, imageOutput: 4160, images: 1 };
const USAGE = {
  input_tokens: 110,
  input_tokens_details: { image_tokens: 100, text_tokens: 10 },
  output_tokens: 4200,
  total_tokens: 4310,
};

describe("choices 5: the answer of the images endpoints", () => {
  test("settings as the provider reports them, the real format, and the tokens", () => {
    const request = decodeGeneration({ ...MINIMAL, quality: "auto", size: "auto" });
    const settings = { size: "1536x1024", quality: "high", background: "opaque", outputFormat: "png" };
    const results = [
      { kind: "made", image: JPEG, revisedPrompt: "a red fox" },
      { kind: "made", image: { mimeType: "image/jpeg", url: "https://gateway.example/1" } },
    ] as const;
    expect(encodeImages({ results, settings, usage: TOKENS }, request, 1_700_000_000)).toEqual({
      created: 1_700_000_000,
      data: [{ b64_json: "/9j/", revised_prompt: "a red fox" }, { url: "https://gateway.example/1" }],
      background: "opaque",
      output_format: "jpeg",
      quality: "high",
      size: "1536x1024",
      usage: USAGE,
    });
  });

  test("settings that the provider does not report are those sent to it; images that are only counted have no usage", () => {
    const request = decodeGeneration({ ...MINIMAL, quality: "low", size: "640x480" });
    const answer = encodeImages({ results: [{ kind: "made", image: PNG }], usage: { images: 1 } }, request, 1);
    expect(answer).toEqual({
      created: 1,
      data: [{ b64_json: "iVBORw==" }],
      output_format: "png",
      quality: "low",
      size: "640x480",
    });
  });

  test("contract 2.14: quality uses the contract's words, not those sent to the model", () => {
    const stated = (quality: string) =>
      encodeImages({ results: [] }, decodeGeneration({ ...MINIMAL, quality }), 1)["quality"];
    expect(["standard", "hd", "high", "auto"].map(stated)).toEqual(["medium", "high", "high", undefined]);
  });

  test("images that were not made are listed as errors", () => {
    const results = [
      { kind: "filtered", reason: "blocked" },
      { kind: "made", image: PNG },
      { kind: "failed", error: new GatewayError("upstream_failed", "broken") },
    ] as const;
    expect(encodeImages({ results }, decodeGeneration(MINIMAL), 1)).toMatchObject({
      data: [{ b64_json: "iVBORw==" }],
      errors: [
        { index: 0, code: "content_filter", message: "blocked" },
        { index: 2, code: "upstream_failed", message: "broken" },
      ],
    });
  });
});

describe("contract 2.14: image events", () => {
  const dataOf = (text: string) => {
    const [event, data, ...rest] = text.split("\n");
    expect(rest).toEqual(["", ""]);
    const parsed = JSON.parse((data ?? "").slice("data: ".length)) as Record<string, unknown>;
    expect(event).toBe(`event: ${String(parsed["type"])}`);
    return parsed;
  };

  test("a partial and a completed event have every field", () => {
    const encoder = createImageEventEncoder(decodeGeneration({ ...MINIMAL, background: "opaque", stream: true }), 1234);
    expect(dataOf(encoder.partial(PNG, { size: "1024x1024", quality: "medium" }))).toEqual({
      type: "image_generation.partial_image",
      b64_json: "iVBORw==",
      created_at: 1234,
      background: "opaque",
      output_format: "png",
      quality: "medium",
      size: "1024x1024",
      partial_image_index: 0,
    });
    expect(dataOf(encoder.completed(PNG, { usage: TOKENS }))).toEqual({
      type: "image_generation.completed",
      b64_json: "iVBORw==",
      created_at: 1234,
      background: "opaque",
      output_format: "png",
      quality: "auto",
      size: "auto",
      usage: USAGE,
    });
  });

  test("contract 6.3: the index rises over the whole stream; edits have their own event names", () => {
    const request = decodeEditBody({ ...MINIMAL, image: "data:image/png;base64,iVBORw==" });
    const encoder = createImageEventEncoder(request, 1);
    const events = [encoder.partial(PNG), encoder.completed(PNG), encoder.partial(PNG), encoder.partial(PNG)].map(
      dataOf,
    );
    expect(events.map((event) => [event["type"], event["partial_image_index"]])).toEqual([
      ["image_edit.partial_image", 0],
      ["image_edit.completed", undefined],
      ["image_edit.partial_image", 1],
      ["image_edit.partial_image", 2],
    ]);
    expect(events[1]).not.toHaveProperty("usage");
  });

  test.each([
    ["5", FifthOpenAI as unknown as typeof OpenAI],
    ["7", OpenAI],
  ] as const)("openai %s reads the events, and an error as one", async (_, Client) => {
    const encoder = createImageEventEncoder(decodeGeneration(MINIMAL), 1);
    const text = encoder.partial(PNG) + encoder.completed(PNG, { usage: TOKENS });
    const error = encoder.error(new GatewayError("content_blocked", "Held back.", { path: "prompt" }));
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(text + error, { headers: { "content-type": "text/event-stream" } }),
    });
    const client = new Client({ apiKey: "key", baseURL: server.url.href, maxRetries: 0 });
    const stream = await client.images.generate({ model: "acme/paint", prompt: "a fox", stream: true });
    const types: string[] = [];
    const reading = (async () => {
      for await (const event of stream) types.push(event.type);
    })();
    await expect(reading).rejects.toThrow("Held back.");
    expect(types).toEqual(["image_generation.partial_image", "image_generation.completed"]);
  });
});
