import { describe, expect, test } from "bun:test";
import { Secret } from "../../base/secret.ts";
import { system } from "../../base/system.ts";
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
import { blackForestLabs } from "./index.ts";

const CONTEXT = adapterContext("flux-2-pro");
const JOB = { id: "j-1", url: "https://api.us1.bfl.ai/v1/get_result?id=j-1" };

const submit = (fields: Parameters<typeof imageCall>[0], model = "flux-2-pro") =>
  images.submit(imageCall(fields), adapterContext(model));
const poll = (body: Parameters<typeof mediaAnswer>[0], job = {}) =>
  images.readPoll?.(mediaAnswer(body), { ...JOB, ...job }, CONTEXT);

describe("providers 2.6: what is sent", () => {
  test("a minimal call", () => {
    const request = submit({ pixels: { width: 1024, height: 768 } });
    expect(request).toMatchObject({ method: "POST", url: "/flux-2-pro" });
    expect(jsonOf(request)).toEqual({ prompt: "a red fox", width: 1024, height: 768 });
  });

  test("contract 2.4: every option, and numbered images", () => {
    const request = submit(
      {
        inputs: [PNG, JPEG, PNG],
        seed: 7,
        guidanceScale: 4.5,
        enhancePrompt: true,
        outputMimeType: "image/png",
        extras: { steps: 30, safety_tolerance: 1, webhook_url: "https://example.com", raw: true },
      },
      "flux-2-flex",
    );
    expect(jsonOf(request)).toEqual({
      safety_tolerance: 1,
      steps: 30,
      prompt: "a red fox",
      input_image: PNG.base64,
      input_image_2: JPEG.base64,
      input_image_3: PNG.base64,
      seed: 7,
      guidance: 4.5,
      prompt_upsampling: true,
      output_format: "png",
    });
  });

  test.each([
    ["flux-kontext-pro", { input_image: PNG.base64, aspect_ratio: "16:9" }],
    ["flux-pro-1.1-ultra", { image_prompt: PNG.base64, aspect_ratio: "16:9" }],
    ["flux-pro-1.1", { image_prompt: PNG.base64 }],
    ["flux-pro-1.0-fill", { image: PNG.base64 }],
  ])("%s has its own fields", (model, fields) => {
    expect(jsonOf(submit({ inputs: [PNG], aspectRatio: "16:9" }, model))).toEqual({ prompt: "a red fox", ...fields });
  });

  test("contract 2.4: an edit within a mask", () => {
    expect(jsonOf(submit({ inputs: [PNG], mask: JPEG }, "flux-pro-1.0-fill"))).toEqual({
      prompt: "a red fox",
      image: PNG.base64,
      mask: JPEG.base64,
    });
  });
});

describe("providers 2.6: capabilities", () => {
  test.each([
    ["flux-2-pro", "free", 8, false],
    ["flux-2-flex", "free", 8, true],
    ["flux-2-klein-9b", "free", 8, false],
    ["flux-kontext-max", "ratio", undefined, false],
    ["flux-pro-1.1", "free", 1, false],
    ["flux-pro-1.1-ultra", "ratio", 1, false],
    ["flux-dev", "free", undefined, true],
    ["flux-pro-1.0-fill", "none", 1, true],
  ])("%s", (model, kind, maxInputs, guided) => {
    const capabilities = images.capabilities(model);
    expect(images.serves(model)).toBe(true);
    expect(capabilities).toMatchObject({ maxCount: 1, perCall: 1, sizes: { kind } });
    if (maxInputs !== undefined) expect(capabilities.maxInputs).toBe(maxInputs);
    expect(capabilities.takes.includes("guidanceScale")).toBe(guided);
    expect(capabilities.mask).toBe(model.endsWith("-fill"));
  });

  test("contract 2.4: the mask is turned from transparent to white", () => {
    expect(images.capabilities("flux-pro-1.0-fill").maskForm).toBe("white");
  });
});

describe("providers 2.6: a job", () => {
  const readSubmit = (body: Parameters<typeof mediaAnswer>[0], enhancePrompt = false) =>
    images.readSubmit(mediaAnswer(body), imageCall({ enhancePrompt }), CONTEXT);

  test("is polled where its answer says, else at the old path", () => {
    const state = readSubmit({ id: "j-1", polling_url: JOB.url, cost: 3 });
    expect(state).toEqual({ state: "waiting", job: JOB });
    expect(images.poll?.(JOB, CONTEXT)).toEqual({ method: "GET", url: JOB.url });
    expect(readSubmit({ id: "j 1" })).toEqual({ state: "waiting", job: { id: "j 1" } });
    expect(images.poll?.({ id: "j 1" }, CONTEXT).url).toBe("/get_result?id=j%201");
    expect(thrownBy(() => readSubmit("<html></html>")).kind).toBe("upstream_failed");
  });

  test("sends the key to the vendor's own hosts only", () => {
    const own = (host: string) => blackForestLabs.media?.ownHosts?.test(host);
    expect(["api.bfl.ai", "api.us1.bfl.ai", "api.eu2.bfl.ai"].map(own)).toEqual([true, true, true]);
    expect(["bfl.ai.example.com", "evilbfl.ai", "delivery.example.com"].map(own)).toEqual([false, false, false]);
    const authenticate = blackForestLabs.authenticate({ name: "b", kind: "b", apiKey: new Secret("key-1") }, system);
    expect(authenticate()).toEqual({ "x-key": "key-1" });
  });

  test.each(["Pending", "A Word Of Tomorrow"])("%s is waiting", (status) => {
    expect(poll({ id: "j-1", status })).toEqual({ state: "waiting", job: JOB });
  });

  test("has an image, and another prompt only where that was asked for", () => {
    const body = { status: "Ready", result: { sample: "https://cdn.example/1.jpeg", prompt: "a red fox in snow" } };
    const made = { kind: "made", image: { url: "https://cdn.example/1.jpeg" } } as const;
    expect(poll(body)).toEqual({ state: "done", reply: { results: [made] } });
    const asked = readSubmit({ id: "j-1" }, true);
    expect(poll(body, asked.state === "waiting" ? asked.job : {})).toEqual({
      state: "done",
      reply: { results: [{ ...made, revisedPrompt: "a red fox in snow" }] },
    });
  });

  test("distinguishes a blocked image from a blocked request", () => {
    expect(poll({ status: "Content Moderated" })).toEqual({
      state: "done",
      reply: { results: [{ kind: "filtered", reason: "The provider's moderation blocked the image." }] },
    });
    expect(poll({ state: "Request Moderated" })).toMatchObject({ state: "failed", error: { kind: "content_blocked" } });
  });

  test.each(["Error", "Failed", "Task not found"])("%s has failed", (status) => {
    expect(poll({ status })).toMatchObject({ state: "failed", error: { kind: "upstream_failed" } });
  });

  test.each(["<html></html>", { status: "Ready", result: null }])("%o is polled again", (body) => {
    expect(thrownBy(() => poll(body)).kind).toBe("upstream_failed");
  });
});

describe("providers 2.6: errors", () => {
  test.each([
    [402, "upstream_unfunded"],
    [403, "upstream_credentials"],
    [429, "rate_limited"],
    [500, "upstream_failed"],
    [503, "overloaded"],
  ])("HTTP %d", (status, kind) => {
    expect<string>(images.error(mediaAnswer({ detail: "words" }, status)).kind).toBe(kind);
  });

  test("an invalid field is named", () => {
    const detail = [{ loc: ["body", "width"], msg: "Input should be a multiple of 16", type: "multiple_of" }];
    expect(images.error(mediaAnswer({ detail }, 422))).toMatchObject({
      kind: "invalid_request",
      message: "width: Input should be a multiple of 16",
      path: "width",
    });
    expect(images.error(mediaAnswer({ message: "words" }, 400)).message).toBe("words");
  });
});
