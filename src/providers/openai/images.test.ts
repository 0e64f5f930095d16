import { describe, expect, test } from "bun:test";
import { azureOpenai } from "../azure-openai.ts";
import {
  adapterContext,
  formOf,
  imageCall,
  JPEG,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
} from "../media-adapters/media-calls.sample.ts";
import { imageCapabilities } from "./image-capabilities.ts";
import { openaiImages } from "./images.ts";

const submit = (model: string, fields: Parameters<typeof imageCall>[0] = {}) =>
  openaiImages.submit(imageCall(fields), adapterContext(model));
const read = (body: Parameters<typeof mediaAnswer>[0], status = 200) =>
  openaiImages.readSubmit(mediaAnswer(body, status), imageCall(), adapterContext("gpt-image-2"));

describe("providers 2.1: requests for generations", () => {
  test("a call with every option", () => {
    const request = submit("gpt-image-2", {
      count: 3,
      pixels: { width: 2048, height: 1152 },
      quality: "high",
      background: "opaque",
      moderation: "low",
      outputMimeType: "image/webp",
      compression: 70,
      extras: { user: "u-1", style: "vivid", seed_mode: 1 },
    });
    expect(request).toMatchObject({ method: "POST", url: "/images/generations" });
    expect(jsonOf(request)).toEqual({
      model: "gpt-image-2",
      prompt: "a red fox",
      user: "u-1",
      n: 3,
      size: "2048x1152",
      quality: "high",
      background: "opaque",
      moderation: "low",
      output_format: "webp",
      output_compression: 70,
    });
  });

  test("gpt-image-2.5 and later take two more qualities", () => {
    expect(jsonOf(submit("gpt-image-2.5-flare", { quality: "max" }))).toMatchObject({ quality: "max" });
    expect(imageCapabilities("gpt-image-2.5-sunburst-2026-09-08").qualities).toContain("xhigh");
    expect(imageCapabilities("gpt-image-2").qualities).not.toContain("xhigh");
  });

  const minimal: [string, Parameters<typeof imageCall>[0], Record<string, unknown>][] = [
    ["gpt-image-1", {}, { n: 1, size: "auto", quality: "auto" }],
    ["gpt-image-1", { size: "auto" }, { n: 1, size: "auto", quality: "auto" }],
    // A compression level does not apply to PNG.
    ["gpt-image-1", { compression: 50 }, { n: 1, size: "auto", quality: "auto" }],
    [
      "dall-e-3",
      { pixels: { width: 1792, height: 1024 }, extras: { style: "natural" } },
      { style: "natural", n: 1, size: "1792x1024", quality: "standard", response_format: "b64_json" },
    ],
    [
      "dall-e-2",
      { count: 2, pixels: { width: 512, height: 512 }, extras: { style: "natural" } },
      { n: 2, size: "512x512", response_format: "b64_json" },
    ],
  ];
  test.each(minimal)(
    "%s is sent what its price depends on and no field that it refuses (%#)",
    (model, call, fields) => {
      expect(jsonOf(submit(model, call))).toEqual({ model, prompt: "a red fox", ...fields });
    },
  );
});

describe("providers 2.1: requests for edits", () => {
  test("several images and a mask, each file with its own type and name", () => {
    const request = submit("gpt-image-1.5", {
      count: 2,
      inputs: [PNG, JPEG],
      mask: PNG,
      inputFidelity: "high",
      outputMimeType: "image/jpeg",
      compression: 80,
      pixels: { width: 1536, height: 1024 },
    });
    expect(request).toMatchObject({ method: "POST", url: "/images/edits" });
    expect(formOf(request)).toEqual([
      { name: "model", value: "gpt-image-1.5" },
      { name: "prompt", value: "a red fox" },
      { name: "n", value: "2" },
      { name: "size", value: "1536x1024" },
      { name: "quality", value: "auto" },
      { name: "output_format", value: "jpeg" },
      { name: "output_compression", value: "80" },
      { name: "input_fidelity", value: "high" },
      { name: "image[]", fileName: "image-1.png", ...PNG },
      { name: "image[]", fileName: "image-2.jpg", ...JPEG },
      { name: "mask", fileName: "mask.png", ...PNG },
    ]);
  });

  test("one image goes by the singular name, the only one that dall-e-2 knows", () => {
    expect(formOf(submit("dall-e-2", { inputs: [PNG], pixels: { width: 256, height: 256 } }))).toEqual([
      { name: "model", value: "dall-e-2" },
      { name: "prompt", value: "a red fox" },
      { name: "n", value: "1" },
      { name: "size", value: "256x256" },
      { name: "response_format", value: "b64_json" },
      { name: "image", fileName: "image-1.png", ...PNG },
    ]);
  });
});

describe("providers 2.1: answers", () => {
  test("images with the settings, and text and image tokens separately", () => {
    const state = read({
      created: 1,
      background: "opaque",
      output_format: "webp",
      size: "1536x1024",
      quality: "high",
      data: [{ b64_json: "UklGRgAA" }, { b64_json: "QUFB", revised_prompt: "two foxes" }],
      usage: {
        input_tokens: 110,
        output_tokens: 4200,
        total_tokens: 4310,
        input_tokens_details: { text_tokens: 10, image_tokens: 100 },
        output_tokens_details: { text_tokens: 40, image_tokens: 4160 },
      },
    });
    expect(state).toEqual({
      state: "done",
      reply: {
        results: [
          { kind: "made", image: { mimeType: "image/webp", base64: "UklGRgAA" } },
          { kind: "made", image: { mimeType: "image/webp", base64: "QUFB" }, revisedPrompt: "two foxes" },
        ],
        usage: { images: 2, input: 10, imageInput: 100, output: 40, imageOutput: 4160 },
        settings: { size: "1536x1024", quality: "high", background: "opaque", outputFormat: "webp" },
      },
    });
  });

  test("without details what came out is images; links stay links; no usage is no usage", () => {
    expect(read({ data: [{ b64_json: JPEG.base64 }], usage: { input_tokens: 9, output_tokens: 1056 } })).toMatchObject({
      reply: { results: [{ image: JPEG }], usage: { images: 1, input: 9, imageOutput: 1056 } },
    });
    expect(read({ created: 1, data: [{ url: "https://files.example/a.png" }] })).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: { url: "https://files.example/a.png" } }] },
    });
  });

  test.each([{ data: [] }, { data: [{}, 7] }, {}, "<html>ok</html>", "[]"])(
    "nothing to show is a failure: %p",
    (body) => {
      expect(thrownBy(() => read(body))).toEqual({
        kind: "upstream_failed",
        message: "The provider's response does not contain images.",
      });
    },
  );

  const errors: [number, object | string, string][] = [
    [
      400,
      { error: { message: "no", type: "image_generation_user_error", code: "moderation_blocked" } },
      "content_blocked",
    ],
    [400, { error: { message: "no", code: "content_policy_violation" } }, "content_blocked"],
    [400, { error: { message: "bad", param: "size", code: "invalid_value" } }, "invalid_request"],
    [401, { error: { message: "key", code: "invalid_api_key" } }, "upstream_credentials"],
    [403, { error: { message: "verify your organization" } }, "upstream_credentials"],
    [429, { error: { message: "quota", code: "insufficient_quota" } }, "upstream_unfunded"],
    [429, { error: { message: "slow down", code: "rate_limit_exceeded" } }, "rate_limited"],
    [500, "<html>oops</html>", "upstream_failed"],
  ];
  test.each(errors)("contract 7: HTTP %i %j is %s", (status, body, kind) => {
    const error = openaiImages.error(mediaAnswer(body as string, status, 7));
    expect<string>(error.kind).toBe(kind);
    if (kind === "rate_limited") expect(error.retryAfterSeconds).toBe(7);
  });

  test("an error under HTTP 200 is thrown as what it is", () => {
    expect(thrownBy(() => read({ error: { message: "blocked", code: "moderation_blocked" } }))).toEqual({
      kind: "content_blocked",
      message: "blocked",
    });
  });
});

describe("contract 2.14: streamed images", () => {
  const { stream } = openaiImages;
  if (stream === undefined) throw new Error("the adapter has lost its stream");

  test("generations and edits ask for the stream and for the number of previews", () => {
    const call = { ...imageCall(), partialImages: 2 };
    expect(jsonOf(stream.submit(call, adapterContext("gpt-image-1")))).toMatchObject({
      stream: true,
      partial_images: 2,
    });
    expect(jsonOf(stream.submit(imageCall(), adapterContext("gpt-image-1")))).toMatchObject({ partial_images: 0 });
    const form = formOf(stream.submit({ ...call, inputs: [PNG] }, adapterContext("gpt-image-1")));
    expect(form).toContainEqual({ name: "stream", value: "true" });
    expect(form).toContainEqual({ name: "partial_images", value: "2" });
    expect(["gpt-image-2", "dall-e-3", "dall-e-2"].map(stream.serves)).toEqual([true, false, false]);
  });

  test.each(["image_generation", "image_edit"])("%s: a preview, then the image with its usage", (word) => {
    const reported = { size: "1024x1024", quality: "low", background: "auto", output_format: "png" };
    const settings = { size: "1024x1024", quality: "low", background: "auto", outputFormat: "png" };
    const preview = { type: `${word}.partial_image`, b64_json: PNG.base64, partial_image_index: 1, ...reported };
    expect(stream.read(preview)).toEqual({ kind: "partial", image: PNG, index: 1, settings });
    const usage = { input_tokens: 60, output_tokens: 272, input_tokens_details: { text_tokens: 10, image_tokens: 50 } };
    expect(stream.read({ type: `${word}.completed`, b64_json: PNG.base64, usage, ...reported })).toEqual({
      kind: "result",
      result: { kind: "made", image: PNG },
      settings,
      usage: { images: 1, input: 10, imageInput: 50, imageOutput: 272 },
    });
  });

  test("unknown events are skipped, and an error ends the stream", () => {
    expect(stream.read({ type: "keepalive" })).toBeUndefined();
    expect(stream.read({ type: "image_generation.sketch", b64_json: PNG.base64 })).toBeUndefined();
    const blocked = { type: "error", error: { message: "not this", code: "moderation_blocked" } };
    expect(thrownBy(() => stream.read(blocked))).toEqual({ kind: "content_blocked", message: "not this" });
    const broken = { type: "error", error: { message: "internal host 10.0.0.1", code: "server_error" } };
    expect(thrownBy(() => stream.read(broken))).toEqual({
      kind: "upstream_failed",
      message: "The provider's stream ended before the image was complete.",
    });
  });
});

describe("contract 2.4: what each family can do", () => {
  test.each([
    ["gpt-image-2-2026-04-21", { maxCount: 10, perCall: 10, maxInputs: 16, mask: true, partialImages: true }],
    ["gpt-image-1.5", { maxCount: 10, maxInputs: 16, mask: true }],
    ["gpt-image-1-mini", { maxCount: 10, takes: ["quality", "background", "moderation"] }],
    ["dall-e-3", { maxCount: 10, perCall: 1, maxInputs: 0, mask: false, formats: ["image/png"] }],
    ["dall-e-2", { maxCount: 10, perCall: 10, maxInputs: 1, mask: true }],
  ])("%s", (model, capabilities) => {
    expect(openaiImages.serves(model)).toBe(true);
    expect(openaiImages.capabilities(model)).toMatchObject(capabilities);
  });

  test("custom sizes are for one model only: multiples of 16, at most 3840 a side, at most 3:1", () => {
    const free = (model: string) => {
      const { sizes } = openaiImages.capabilities(model);
      return sizes.kind === "presets" ? sizes.free : undefined;
    };
    expect(free("gpt-image-2")).toMatchObject({ multipleOf: 16, maxSide: 3840, maxRatio: 3 });
    expect(free("gpt-image-1.5")).toBeUndefined();
    expect(free("dall-e-3")).toBeUndefined();
  });

  test("providers 1.5: an operator's resource has the same paths below its v1 form", () => {
    const { base, images } = azureOpenai.media ?? {};
    expect(base?.("https://mine.example")).toBe("https://mine.example/openai/v1");
    expect(base?.("https://mine.example/openai/v1")).toBe("https://mine.example/openai/v1");
    expect(images).toEqual([openaiImages]);
  });

  test("models that talk are not served", () => {
    expect(["gpt-5.2", "sora-2", "o4-mini"].filter(openaiImages.serves)).toEqual([]);
  });
});
