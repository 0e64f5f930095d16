import { describe, expect, test } from "bun:test";
import { withoutAbsent } from "../../base/without-absent.ts";
import {
  adapterContext,
  imageCall,
  JPEG,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
} from "../media-adapters/media-calls.sample.ts";
import { xAiImages } from "./images.ts";

const submit = (fields: Parameters<typeof imageCall>[0] = {}, model = "grok-imagine-image") =>
  xAiImages.submit(imageCall(fields), adapterContext(model));
const read = (body: Parameters<typeof mediaAnswer>[0]) =>
  xAiImages.readSubmit(mediaAnswer(body), imageCall(), adapterContext("grok-imagine-image"));

describe("providers 2.11: requests", () => {
  test("a call with every option, and one with none", () => {
    const full = submit(
      { count: 4, aspectRatio: "16:9", tier: "2K", quality: "medium", extras: { user: "u-1", size: "1024x1024" } },
      "grok-imagine-image-2.0",
    );
    expect(full).toMatchObject({ method: "POST", url: "/images/generations" });
    expect(jsonOf(full)).toEqual({
      user: "u-1",
      model: "grok-imagine-image-2.0",
      prompt: "a red fox",
      n: 4,
      aspect_ratio: "16:9",
      resolution: "2k",
      quality: "medium",
      response_format: "b64_json",
    });
    expect(jsonOf(submit())).toEqual({
      model: "grok-imagine-image",
      prompt: "a red fox",
      n: 1,
      resolution: "1k",
      response_format: "b64_json",
    });
  });

  test("the quality, which the price depends on, is sent where there is a choice", () => {
    expect(jsonOf(submit({}, "grok-imagine-image-2.0"))["quality"]).toBe("medium");
    expect(jsonOf(submit({ quality: "low" }, "grok-imagine-image-2.0"))["quality"]).toBe("low");
  });

  test("an edit is JSON too: one image, or a list of them", () => {
    const png = { url: `data:image/png;base64,${PNG.base64}`, type: "image_url" };
    const jpeg = { url: `data:image/jpeg;base64,${JPEG.base64}`, type: "image_url" };
    expect(submit({ inputs: [PNG] }).url).toBe("/images/edits");
    expect(jsonOf(submit({ inputs: [PNG] }))).toMatchObject({ image: png });
    const both = jsonOf(submit({ inputs: [PNG, JPEG] }));
    expect(both).toMatchObject({ images: [png, jpeg] });
    expect(both).not.toHaveProperty("image");
  });
});

describe("providers 2.11: answers", () => {
  test("contract 2.5: one of several images may be blocked", () => {
    const state = read({
      data: [
        { b64_json: JPEG.base64, mime_type: "image/jpeg", revised_prompt: "a fox" },
        { b64_json: "", url: "", respect_moderation: false },
        { url: "https://imgen.example/a.jpeg", mime_type: "image/jpeg", respect_moderation: true, revised_prompt: "" },
      ],
      usage: { cost_in_usd_ticks: 200_000_000 },
    });
    expect(state).toEqual({
      state: "done",
      reply: {
        results: [
          { kind: "made", image: JPEG, revisedPrompt: "a fox" },
          { kind: "filtered", reason: "The provider's moderation blocked the image." },
          { kind: "made", image: { url: "https://imgen.example/a.jpeg", mimeType: "image/jpeg" } },
        ],
      },
    });
  });

  test.each([
    [{ code: "bad", error: "the model is down" }, "upstream_failed"],
    [{ error: { code: "moderation_blocked", message: "not this" } }, "content_blocked"],
    [{ data: [] }, "upstream_failed"],
    ["<html>", "upstream_failed"],
  ])("HTTP 200 without an image is a failure: %j", (body, kind) => {
    expect(thrownBy(() => read(body)).kind).toBe(kind);
  });

  const SENTENCE = "The request was not valid";
  test.each([
    [400, { code: SENTENCE, error: "Argument not supported: size" }, "invalid_request", "Argument not supported: size"],
    [
      400,
      { code: SENTENCE, error: "Rejected by content moderation." },
      "content_blocked",
      "Rejected by content moderation.",
    ],
    [400, { error: "no" }, "invalid_request", "no"],
    [
      422,
      { error: { message: "prompt is missing", code: "invalid_argument" } },
      "invalid_request",
      "prompt is missing",
    ],
    [403, { code: "permission_denied", error: "buy credits" }, "upstream_credentials", undefined],
    [429, { error: "slow down" }, "rate_limited", "slow down"],
    [503, "", "overloaded", undefined],
  ])("HTTP %i %j is %s", (status, body, kind, message) => {
    const error = xAiImages.error(mediaAnswer(body, status));
    expect<unknown>(error).toMatchObject({ kind, ...withoutAbsent({ message }) });
    expect(error.message).not.toContain("credits");
  });
});

test("contract 2.4: ten images, by shape and level, no mask; quality in the second version only", () => {
  expect(xAiImages.capabilities("grok-imagine-image")).toMatchObject({
    maxCount: 10,
    mask: false,
    maxInputs: 3,
    takes: [],
  });
  expect(xAiImages.capabilities("grok-imagine-image-2.0").takes).toEqual(["quality"]);
  expect(xAiImages.capabilities("grok-imagine-image").sizes).toMatchObject({ kind: "ratio", tiers: ["1K", "2K"] });
  expect(["grok-imagine-image-quality", "grok-imagine-video-1.5", "grok-4"].map(xAiImages.serves)).toEqual([
    true,
    false,
    false,
  ]);
});
