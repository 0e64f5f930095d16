import { describe, expect, test } from "bun:test";
import { adapterContext, imageCall, jsonOf, mediaAnswer, PNG, thrownBy } from "../media-adapters/media-calls.sample.ts";
import { qwenAdapters } from "./adapters.ts";
import { images } from "./images.ts";

const MODEL = "qwen-image-2.0-pro";
const DATA_URL = `data:image/png;base64,${PNG.base64}`;

const submit = (fields: Parameters<typeof imageCall>[0] = {}, model = MODEL) =>
  images.submit(imageCall(fields), adapterContext(model));
const read = (body: Parameters<typeof mediaAnswer>[0]) =>
  images.readSubmit(mediaAnswer(body), imageCall(), adapterContext(MODEL));

describe("providers 2.5: what is sent", () => {
  test("a minimal call sends count and size, for which the host has expensive defaults", () => {
    const request = submit({ pixels: { width: 1024, height: 1024 } });
    expect(request).toMatchObject({ method: "POST", url: "/services/aigc/multimodal-generation/generation" });
    expect(request.headers).toBeUndefined();
    expect(jsonOf(request)).toEqual({
      model: MODEL,
      input: { messages: [{ role: "user", content: [{ text: "a red fox" }] }] },
      parameters: { n: 1, watermark: false, size: "1024*1024" },
    });
  });

  test("contract 2.4: every option, and an edit's images before the text", () => {
    const request = submit({
      count: 3,
      inputs: [PNG, PNG],
      pixels: { width: 1536, height: 864 },
      negativePrompt: "hounds",
      seed: 7,
      watermark: true,
      enhancePrompt: false,
    });
    expect(jsonOf(request)).toEqual({
      model: MODEL,
      input: {
        messages: [{ role: "user", content: [{ image: DATA_URL }, { image: DATA_URL }, { text: "a red fox" }] }],
      },
      parameters: {
        n: 3,
        watermark: true,
        size: "1536*864",
        negative_prompt: "hounds",
        seed: 7,
        prompt_extend: false,
      },
    });
  });

  test.each([
    ["https://dashscope.aliyuncs.com/compatible-mode/v1", "https://dashscope.aliyuncs.com/api/v1"],
    ["https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "https://dashscope-intl.aliyuncs.com/api/v1"],
    ["http://127.0.0.1:9/own", "http://127.0.0.1:9/own"],
  ])("base URL %s becomes %s", (baseUrl, expected) => {
    expect(qwenAdapters.base?.(baseUrl)).toBe(expected);
  });
});

describe("providers 2.5: capabilities", () => {
  test.each([
    ["qwen-image-2.0", 6, 3, "free"],
    [MODEL, 6, 3, "free"],
    ["qwen-image", 1, 0, "presets"],
    ["qwen-image-plus", 1, 0, "presets"],
    ["qwen-image-max", 1, 0, "presets"],
    ["qwen-image-edit-plus", 6, 3, "free"],
    ["qwen-image-edit", 1, 3, "none"],
    ["z-image-turbo", 1, 0, "none"],
  ])("%s", (model, perCall, maxInputs, kind) => {
    expect(images.serves(model)).toBe(true);
    expect(images.capabilities(model)).toMatchObject({ maxCount: 6, perCall, maxInputs, sizes: { kind } });
  });

  test("texts, videos and Wan's images are left to other adapters", () => {
    expect(["qwen3.7-plus", "wan2.6-t2v", "wan2.7-image"].filter(images.serves)).toEqual([]);
  });
});

describe("providers 2.5: what comes back", () => {
  const choice = (url: string) => ({ message: { role: "assistant", content: [{ image: url }] } });

  test("the images are links", () => {
    const body = {
      output: { choices: [choice("https://files.example/1.png"), choice("https://files.example/2.png")] },
      usage: { image_count: 2, width: 1024, height: 1024 },
      request_id: "r-1",
    };
    expect(read(body)).toEqual({
      state: "done",
      reply: {
        results: [
          { kind: "made", image: { url: "https://files.example/1.png" } },
          { kind: "made", image: { url: "https://files.example/2.png" } },
        ],
        usage: { images: 2 },
      },
    });
  });

  test.each([
    [{ code: "DataInspectionFailed", message: "not this", request_id: "r" }, "content_blocked"],
    [{ output: { choices: [] } }, "upstream_failed"],
    ["<html></html>", "upstream_failed"],
  ])("%o is thrown", (body, kind) => {
    expect(thrownBy(() => read(body)).kind).toBe(kind);
  });

  test.each([
    [400, "DataInspectionFailed", "content_blocked"],
    [400, "InvalidParameter", "invalid_request"],
    [400, "Arrearage", "upstream_credentials"],
    [401, "InvalidApiKey", "upstream_credentials"],
    [429, "Throttling.RateQuota", "rate_limited"],
    [500, "InternalError", "upstream_failed"],
  ])("HTTP %d %s", (status, code, kind) => {
    const error = images.error(mediaAnswer({ code, message: "words", request_id: "r" }, status, 7));
    expect<string>(error.kind).toBe(kind);
    expect(error.retryAfterSeconds).toBe(kind === "rate_limited" || kind === "upstream_failed" ? 7 : undefined);
  });
});
