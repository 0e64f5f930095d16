import { describe, expect, test } from "bun:test";
import { Secret } from "../../base/secret.ts";
import { system } from "../../base/system.ts";
import { adapterContext, imageCall, jsonOf, mediaAnswer, PNG, thrownBy } from "../media-adapters/media-calls.sample.ts";
import { baiduImages } from "./images.ts";
import { baidu } from "./index.ts";

const submit = (model: string, fields: Parameters<typeof imageCall>[0] = {}) =>
  baiduImages.submit(imageCall(fields), adapterContext(model));
const read = (body: Parameters<typeof mediaAnswer>[0]) =>
  baiduImages.readSubmit(mediaAnswer(body), imageCall(), adapterContext("ernie-image-turbo"));

describe("providers 2.10: requests", () => {
  test.each([
    ["ernie-image-turbo", "/ernie-image/images/generations"],
    ["musesteamer-air-image", "/musesteamer/images/generations"],
    ["qwen-image", "/images/generations"],
  ])("%s is at %s", (model, url) => {
    expect(submit(model)).toMatchObject({ method: "POST", url });
  });

  test("each family is sent its own fields", () => {
    const pixels = { width: 1264, height: 848 };
    expect(jsonOf(submit("ernie-image-turbo", { pixels, watermark: true, extras: { steps: 4 } }))).toEqual({
      model: "ernie-image-turbo",
      prompt: "a red fox",
      size: "1264x848",
      watermark: true,
    });
    expect(jsonOf(submit("ernie-image-turbo"))).toEqual({
      model: "ernie-image-turbo",
      prompt: "a red fox",
      watermark: false,
    });
    expect(jsonOf(submit("musesteamer-air-image", { pixels, seed: 7, enhancePrompt: true }))).toEqual({
      model: "musesteamer-air-image",
      prompt: "a red fox",
      size: "1264x848",
      seed: 7,
      prompt_extend: true,
      response_format: "b64_json",
    });
    const options = { count: 3, negativePrompt: "snow", seed: 7, guidanceScale: 4.5, enhancePrompt: false };
    expect(jsonOf(submit("qwen-image", { ...options, pixels, extras: { steps: 20, style: "x" } }))).toEqual({
      steps: 20,
      model: "qwen-image",
      prompt: "a red fox",
      n: 3,
      size: "1264x848",
      negative_prompt: "snow",
      seed: 7,
      guidance: 4.5,
      prompt_extend: false,
      watermark: false,
    });
  });
});

describe("providers 2.10: answers", () => {
  test("links and images", () => {
    expect(
      read({ id: "as-1", created: 1, data: [{ url: "https://bos.example/a" }, { b64_json: PNG.base64 }] }),
    ).toEqual({
      state: "done",
      reply: {
        results: [
          { kind: "made", image: { url: "https://bos.example/a" } },
          { kind: "made", image: PNG },
        ],
      },
    });
  });

  test.each([
    [{ id: "as-1", error: { code: "x", message: "oops", type: "x" } }, "upstream_failed"],
    [{ id: "as-1", data: [] }, "upstream_failed"],
    ["<html>", "upstream_failed"],
  ])("HTTP 200 without an image is a failure: %j", (body, kind) => {
    expect(thrownBy(() => read(body)).kind).toBe(kind);
  });

  test.each([
    [400, { error: { code: "invalid_argument", message: "prompt is too long", type: "x" } }, "invalid_request"],
    [401, { error: { code: "x", message: "key" } }, "upstream_credentials"],
    [429, { error: { code: "x", message: "slow down" } }, "rate_limited"],
    [500, "", "upstream_failed"],
  ])("HTTP %i %j is %s", (status, body, kind) => {
    expect<string>(baiduImages.error(mediaAnswer(body, status)).kind).toBe(kind);
  });
});

test("contract 2.4: one image a call of the host's own models, from a list of sizes", () => {
  const own = baiduImages.capabilities("ernie-image-turbo");
  expect(own).toMatchObject({ maxCount: 1, perCall: 1, takes: ["watermark"], maxInputs: 0, mask: false });
  expect(own.sizes.kind === "presets" && own.sizes.sizes).toHaveLength(7);
  expect(baiduImages.capabilities("qwen-image")).toMatchObject({ maxCount: 4, perCall: 4 });
  expect(["ernie-image-turbo", "ernie-5.0"].map(baiduImages.serves)).toEqual([true, false]);
});

test("the host is called with its key at its own base URL", async () => {
  const settings = { name: "baidu", kind: "baidu", apiKey: new Secret("bce-v3/secret") };
  expect(baidu.baseUrl(settings)).toBe("https://qianfan.baidubce.com/v2");
  expect(await baidu.authenticate(settings, system)()).toEqual({ authorization: "Bearer bce-v3/secret" });
});
