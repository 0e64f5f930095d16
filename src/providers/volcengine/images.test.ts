import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import {
  adapterContext,
  imageCall,
  JPEG,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
} from "../media-adapters/media-calls.sample.ts";
import { images } from "./images.ts";

const LITE = "doubao-seedream-5-0-lite-260128";

const submit = (fields: Parameters<typeof imageCall>[0] = {}, model = LITE) =>
  images.submit(imageCall(fields), adapterContext(model));
const read = (body: Parameters<typeof mediaAnswer>[0]) =>
  images.readSubmit(mediaAnswer(body), imageCall(), adapterContext(LITE));

describe("providers 2.4: what is sent", () => {
  test("a minimal call sends what the host would otherwise choose", () => {
    const request = submit({ pixels: { width: 2048, height: 2048 } });
    expect(request).toMatchObject({ method: "POST", url: "/images/generations" });
    expect(jsonOf(request)).toEqual({
      model: LITE,
      prompt: "a red fox",
      response_format: "b64_json",
      watermark: false,
      size: "2048x2048",
      sequential_image_generation: "disabled",
    });
  });

  test("contract 2.4: several images are a batch, and their count is sent", () => {
    const request = submit({
      count: 13,
      watermark: true,
      inputs: [PNG, JPEG],
      outputMimeType: "image/png",
      pixels: { width: 2560, height: 1440 },
      extras: { optimize_prompt_options: { mode: "fast" }, callback_url: "https://example.com", n: 3 },
    });
    expect(jsonOf(request)).toEqual({
      optimize_prompt_options: { mode: "fast" },
      model: LITE,
      prompt: "a red fox",
      response_format: "b64_json",
      watermark: true,
      size: "2560x1440",
      image: [`data:image/png;base64,${PNG.base64}`, `data:image/jpeg;base64,${JPEG.base64}`],
      sequential_image_generation: "auto",
      sequential_image_generation_options: { max_images: 13 },
      output_format: "png",
    });
  });

  test("an edit of one image sends it without a list", () => {
    const request = submit({ inputs: [JPEG] }, "doubao-seedream-4-0-250828");
    expect(jsonOf(request)["image"]).toBe(`data:image/jpeg;base64,${JPEG.base64}`);
  });

  test("models without batches get no batch field, and version 3 takes a seed", () => {
    const model = "doubao-seedream-3-0-t2i-250415";
    expect(jsonOf(submit({ seed: 7, guidanceScale: 2.5, outputMimeType: "image/jpeg" }, model))).toEqual({
      model,
      prompt: "a red fox",
      response_format: "b64_json",
      watermark: false,
      seed: 7,
      guidance_scale: 2.5,
    });
  });

  test("a stream is the same call", () => {
    const streamed = images.stream?.submit(imageCall(), adapterContext(LITE));
    expect(streamed).toEqual({ ...submit(), body: { json: { ...jsonOf(submit()), stream: true } } });
  });
});

describe("providers 2.4: capabilities", () => {
  test.each([
    ["doubao-seedream-5-0-pro-260628", 1, 10, false, ["1K", "2K"]],
    [LITE, 15, 14, true, ["2K", "4K"]],
    ["seedream-5-0-260128", 15, 14, true, ["2K", "4K"]],
    ["doubao-seedream-4-5-251128", 15, 14, true, ["2K", "4K"]],
    ["doubao-seedream-4-0-250828", 15, 14, true, ["1K", "2K", "4K"]],
    ["doubao-seedream-3-0-t2i-250415", 1, 0, false, ["1K", "2K"]],
  ])("%s", (model, perCall, maxInputs, streams, tiers) => {
    const capabilities = images.capabilities(model);
    expect(images.serves(model)).toBe(true);
    expect(capabilities).toMatchObject({ maxCount: 15, perCall, maxInputs, sizes: { kind: "free", tiers } });
    expect(images.stream?.serves(model)).toBe(streams);
  });

  test("videos and texts are left to other adapters", () => {
    expect(["doubao-seedance-2-0-260128", "doubao-seed-2-0-pro-260215"].filter(images.serves)).toEqual([]);
  });
});

describe("providers 2.4: what comes back", () => {
  test("a batch of which one was blocked and one failed", () => {
    const state = read({
      data: [
        { b64_json: "/9j/4AAQ", size: "2048x2048" },
        { b64_json: "iVBORw0KGgo=", size: "2048x2048" },
        { url: "https://files.example/1.jpeg" },
        { error: { code: "OutputImageSensitiveContentDetected", message: "held back" } },
        { error: { code: "InternalServiceError", message: "broken" } },
      ],
      usage: { generated_images: 3, output_tokens: 49152, total_tokens: 49152 },
    });
    expect(state).toEqual({
      state: "done",
      reply: {
        results: [
          { kind: "made", image: { mimeType: "image/jpeg", base64: "/9j/4AAQ" } },
          { kind: "made", image: { mimeType: "image/png", base64: "iVBORw0KGgo=" } },
          { kind: "made", image: { url: "https://files.example/1.jpeg" } },
          { kind: "filtered", reason: "held back" },
          {
            kind: "failed",
            error: new GatewayError("upstream_failed", "The provider could not finish the job: broken", {
              failure: { said: "broken" },
            }),
          },
        ],
        usage: { images: 3, imageOutput: 49152 },
        settings: { size: "2048x2048" },
      },
    });
  });

  test.each([
    [
      "a refusal with HTTP 200",
      { error: { code: "InputTextSensitiveContentDetected", message: "no" } },
      "content_blocked",
    ],
    ["no images", { data: [] }, "upstream_failed"],
    ["a page of HTML", "<html></html>", "upstream_failed"],
  ])("%s is thrown", (_name, body, kind) => {
    expect(thrownBy(() => read(body)).kind).toBe(kind);
  });

  test.each([
    [400, "InvalidParameter", "invalid_request"],
    [400, "InputImageSensitiveContentDetected", "content_blocked"],
    [401, "AuthenticationError", "upstream_credentials"],
    [404, "UnsupportedModel", "not_found"],
    [429, "RateLimitExceeded.EndpointRPMExceeded", "rate_limited"],
    [429, "QuotaExceeded", "upstream_credentials"],
    [500, "InternalServiceError", "upstream_failed"],
  ])("HTTP %d %s", (status, code, kind) => {
    const error = images.error(mediaAnswer({ error: { code, message: "words", param: "size" } }, status));
    expect<string>(error.kind).toBe(kind);
    if (kind === "invalid_request") expect(error).toMatchObject({ message: "words", path: "size", code });
  });

  test("an error page has only its status", () => {
    expect(images.error(mediaAnswer("<html></html>", 503)).kind).toBe("overloaded");
  });
});

describe("providers 2.4: a stream, whose partial results are finished images", () => {
  const readEvent = (event: object) => images.stream?.read({ ...event });

  test.each([
    [
      { type: "image_generation.partial_succeeded", image_index: 0, b64_json: "/9j/4AAQ", size: "2048x2048" },
      {
        kind: "result",
        result: { kind: "made", image: { mimeType: "image/jpeg", base64: "/9j/4AAQ" } },
        settings: { size: "2048x2048" },
      },
    ],
    [
      {
        type: "image_generation.partial_failed",
        image_index: 1,
        error: { code: "OutputImageSensitiveContentDetected", message: "held back" },
      },
      { kind: "result", result: { kind: "filtered", reason: "held back" } },
    ],
    [
      { type: "image_generation.completed", usage: { generated_images: 1, output_tokens: 16384 } },
      { kind: "end", usage: { images: 1, imageOutput: 16384 } },
    ],
    [{ type: "image_generation.something_new" }, undefined],
  ])("%o", (event, expected) => {
    expect(readEvent(event)).toEqual(expected as ReturnType<typeof readEvent>);
  });

  test("an error event is thrown", () => {
    const error = thrownBy(() =>
      readEvent({ type: "error", error: { code: "RateLimitExceeded", message: "slow down" } }),
    );
    expect(error).toMatchObject({ kind: "rate_limited", message: "slow down" });
  });
});
