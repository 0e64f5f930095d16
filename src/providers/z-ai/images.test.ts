import { describe, expect, test } from "bun:test";
import { fitImageCall } from "../../media/fit-image-call.ts";
import { adapterContext, imageCall, jsonOf, mediaAnswer, thrownBy } from "../media-adapters/media-calls.sample.ts";
import { zAiImages } from "./images.ts";

const submit = (fields: Parameters<typeof imageCall>[0] = {}, model = "glm-image") =>
  zAiImages.submit(imageCall(fields), adapterContext(model));
const read = (body: Parameters<typeof mediaAnswer>[0]) =>
  zAiImages.readSubmit(mediaAnswer(body), imageCall(), adapterContext("glm-image"));

describe("providers 2.8: requests", () => {
  test("a call with every option, and one with none", () => {
    const pixels = { width: 1728, height: 960 };
    const full = submit({ pixels, watermark: false, extras: { user_id: "user-1", seed: 7 } });
    expect(full).toMatchObject({ method: "POST", url: "/images/generations" });
    expect(jsonOf(full)).toEqual({
      user_id: "user-1",
      model: "glm-image",
      prompt: "a red fox",
      size: "1728x960",
      watermark_enabled: false,
      request_id: "job-0001",
    });
    expect(jsonOf(submit())).toEqual({
      model: "glm-image",
      prompt: "a red fox",
      watermark_enabled: true,
      request_id: "job-0001",
    });
  });

  test.each([
    ["high", "hd"],
    ["hd", "hd"],
    ["medium", "standard"],
    ["auto", undefined],
  ])("the quality %s is %s there", (quality, word) => {
    const { call } = fitImageCall(imageCall({ quality }), zAiImages.capabilities("cogview-4-250304"), "cogview");
    expect(jsonOf(submit(call, "cogview-4-250304"))["quality"]).toBe(word);
  });
});

describe("providers 2.8: answers", () => {
  test("the image is a link; the filter's levels mean nothing with it", () => {
    const data = [{ url: "https://files.example/a.png" }];
    expect(read({ created: 1, data, content_filter: [{ role: "assistant", level: 3 }] })).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: { url: "https://files.example/a.png" } }] },
    });
  });

  test("contract 2.5: without an image the filter is the reason", () => {
    expect(read({ created: 1, data: [], content_filter: [{ role: "user", level: 0 }] })).toEqual({
      state: "done",
      reply: { results: [{ kind: "filtered", reason: "The provider's content filter blocked the image." }] },
    });
  });

  test.each([
    [{ error: { code: "1301", message: "unsafe" } }, "content_blocked"],
    [{ error: { code: "500", message: "oops" } }, "upstream_failed"],
    [{ data: [] }, "upstream_failed"],
    ["<html>", "upstream_failed"],
  ])("HTTP 200 without an image is a failure: %j", (body, kind) => {
    expect(thrownBy(() => read(body)).kind).toBe(kind);
  });

  test.each([
    [400, { error: { code: "1301", message: "unsafe" } }, "content_blocked"],
    [400, { error: { code: 1301, message: "unsafe" } }, "content_blocked"],
    [400, { error: { code: "9999", message: "size is wrong" } }, "invalid_request"],
    [401, { error: { code: "1000", message: "key" } }, "upstream_credentials"],
    [429, { error: { code: "1113", message: "no money" } }, "upstream_credentials"],
    [429, { error: { code: "1302", message: "too many at once" } }, "rate_limited"],
    [500, "oops", "upstream_failed"],
  ])("HTTP %i %j is %s", (status, body, kind) => {
    expect<string>(zAiImages.error(mediaAnswer(body, status)).kind).toBe(kind);
  });
});

test("contract 2.4: one image per call, with a choice of watermark; no input images", () => {
  const capabilities = zAiImages.capabilities("glm-image");
  expect(capabilities).toMatchObject({ maxCount: 1, perCall: 1, takes: ["watermark"], maxInputs: 0, mask: false });
  expect(capabilities.sizes).toMatchObject({ kind: "presets" });
  if (capabilities.sizes.kind === "presets") expect(capabilities.sizes.sizes[0]).toEqual({ width: 1280, height: 1280 });
  expect(["glm-image", "cogview-4-250304", "glm-5", "cogvideox-3"].map(zAiImages.serves)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
