import { describe, expect, test } from "bun:test";
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

const MODEL = "image-01";
const read = (body: Parameters<typeof mediaAnswer>[0], count = 1) =>
  images.readSubmit(mediaAnswer(body), imageCall({ count }), adapterContext(MODEL));
const ok = { status_code: 0, status_msg: "success" };

describe("providers 2.12: requests for images", () => {
  test("every field, in pixels", () => {
    const request = images.submit(
      imageCall({
        count: 3,
        pixels: { width: 1280, height: 720 },
        seed: 4,
        enhancePrompt: true,
        watermark: true,
        inputs: [PNG],
        extras: { style: { style_type: "manga" }, callback_url: "https://elsewhere.example" },
      }),
      adapterContext(MODEL),
    );
    expect(request).toMatchObject({ method: "POST", url: "/v1/image_generation" });
    expect(jsonOf(request)).toEqual({
      style: { style_type: "manga" },
      model: MODEL,
      prompt: "a red fox",
      response_format: "base64",
      n: 3,
      width: 1280,
      height: 720,
      seed: 4,
      prompt_optimizer: true,
      aigc_watermark: true,
      subject_reference: [{ type: "character", image_file: `data:image/png;base64,${PNG.base64}` }],
    });
  });

  test("the smallest one sends what the price or the result depends on; the live variant takes a shape", () => {
    expect(jsonOf(images.submit(imageCall({ aspectRatio: "3:2" }), adapterContext("image-01-live")))).toEqual({
      model: "image-01-live",
      prompt: "a red fox",
      response_format: "base64",
      n: 1,
      aspect_ratio: "3:2",
      prompt_optimizer: false,
      aigc_watermark: false,
    });
  });

  test("contract 2.4: nine images, one input image, no mask; sizes by pixels or by shape", () => {
    expect(images.capabilities(MODEL)).toMatchObject({ maxCount: 9, perCall: 9, maxInputs: 1, mask: false });
    expect(images.capabilities(MODEL).sizes).toMatchObject({ kind: "free", free: { minSide: 512, maxSide: 2048 } });
    expect(images.capabilities("image-01-live").sizes.kind).toBe("ratio");
  });
});

describe("providers 2.12: answers", () => {
  test("images, and a count of blocked ones", () => {
    const metadata = { success_count: "2", failed_count: "1" };
    const filtered = { kind: "filtered", reason: "The provider's moderation blocked this image." };
    expect(read({ data: { image_base64: [JPEG.base64, PNG.base64] }, metadata, base_resp: ok }, 3)).toEqual({
      state: "done",
      reply: {
        results: [{ kind: "made", image: JPEG }, { kind: "made", image: PNG }, filtered],
        usage: { images: 2 },
      },
    } as never);
    expect(read({ data: {}, metadata: { failed_count: 1 }, base_resp: ok })).toMatchObject({
      state: "done",
      reply: { results: [filtered], usage: { images: 0 } },
    });
  });

  test.each([
    [1000, "upstream_failed"],
    [1001, "upstream_timeout"],
    [1002, "rate_limited"],
    [1004, "upstream_credentials"],
    [1008, "upstream_credentials"],
    [1026, "content_blocked"],
    [1027, "content_blocked"],
    [2013, "invalid_request"],
    [2049, "upstream_credentials"],
    [9999, "upstream_failed"],
  ])("code %d inside HTTP 200 is %s", (status_code, kind) => {
    const body = { base_resp: { status_code, status_msg: "said there" } };
    expect(thrownBy(() => read(body)).kind).toBe(kind);
    expect(images.error(mediaAnswer(body, 400)).kind).toBe(kind as never);
  });

  test("the host's message is shown where the request is at fault", () => {
    const base_resp = { status_code: 1026, status_msg: "input new_sensitive" };
    expect(thrownBy(() => read({ base_resp })).message).toBe("input new_sensitive");
    expect(
      thrownBy(() => read({ base_resp: { status_code: 1008, status_msg: "insufficient balance" } })).message,
    ).toContain("gateway's credentials");
  });

  test.each([["<html>"], ["{}"], ['{"data":{"image_base64":[]},"base_resp":{"status_code":0}}']])(
    "garbage: %s",
    (text) => {
      expect(thrownBy(() => read(text))).toMatchObject({ kind: "upstream_failed" });
    },
  );
});
