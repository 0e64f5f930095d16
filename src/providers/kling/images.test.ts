import { describe, expect, test } from "bun:test";
import { adapterContext, imageCall, jsonOf, mediaAnswer, PNG, thrownBy } from "../media-adapters/media-calls.sample.ts";
import { images } from "./images.ts";

const CONTEXT = adapterContext("kling-v3");
const JOB = { id: "t-1" };

const submit = (fields: Parameters<typeof imageCall>[0] = {}) => images.submit(imageCall(fields), CONTEXT);
const poll = (body: Parameters<typeof mediaAnswer>[0]) => images.readPoll?.(mediaAnswer(body), JOB, CONTEXT);

describe("providers 2.7: what is sent", () => {
  test("a minimal call", () => {
    expect(submit()).toMatchObject({ method: "POST", url: "/v1/images/generations" });
    expect(jsonOf(submit())).toEqual({
      model_name: "kling-v3",
      prompt: "a red fox",
      n: 1,
      resolution: "1k",
      external_task_id: "job-0001",
    });
  });

  test("contract 2.4: every option", () => {
    const request = submit({
      count: 9,
      aspectRatio: "21:9",
      tier: "2K",
      negativePrompt: "hounds",
      watermark: true,
      extras: { callback_url: "https://example.com", image_fidelity: 0.5 },
    });
    expect(jsonOf(request)).toEqual({
      model_name: "kling-v3",
      prompt: "a red fox",
      n: 9,
      resolution: "2k",
      aspect_ratio: "21:9",
      negative_prompt: "hounds",
      watermark_info: { enabled: true },
      external_task_id: "job-0001",
    });
  });

  test("contract 2.4: one input image, as bare base64", () => {
    const request = submit({ inputs: [PNG], extras: { image_reference: "face" } });
    expect(jsonOf(request)).toEqual({
      image_reference: "face",
      model_name: "kling-v3",
      prompt: "a red fox",
      n: 1,
      resolution: "1k",
      image: PNG.base64,
      external_task_id: "job-0001",
    });
  });
});

test("providers 2.7: capabilities", () => {
  expect(images.capabilities("kling-v3")).toMatchObject({
    maxCount: 9,
    perCall: 9,
    maxInputs: 1,
    mask: false,
    onlyWithoutInputs: ["negativePrompt"],
  });
});

describe("providers 2.7: a task", () => {
  const readSubmit = (body: Parameters<typeof mediaAnswer>[0]) =>
    images.readSubmit(mediaAnswer(body), imageCall(), CONTEXT);

  test("is polled by its id", () => {
    expect(readSubmit({ code: 0, data: { task_id: "t-1", task_status: "submitted" } })).toEqual({
      state: "waiting",
      job: JOB,
    });
    expect(images.poll?.(JOB, CONTEXT)).toEqual({ method: "GET", url: "/v1/images/generations/t-1" });
  });

  test.each([
    [{ code: 1301, message: "content" }, "content_blocked"],
    [{ code: 1101, message: "arrears" }, "upstream_credentials"],
    ["<html></html>", "upstream_failed"],
  ])("%o with HTTP 200 is thrown", (body, kind) => {
    expect(thrownBy(() => readSubmit(body)).kind).toBe(kind);
  });

  test("has images at the end", () => {
    const urls = ["https://files.example/0.png", "https://files.example/1.png"];
    const task_result = { images: urls.map((url, index) => ({ index, url })) };
    expect(poll({ code: 0, data: { task_status: "succeed", task_result } })).toEqual({
      state: "done",
      reply: { results: urls.map((url) => ({ kind: "made", image: { url } })) },
    });
  });

  test.each(["submitted", "processing", "a word of tomorrow"])("%s is waiting", (task_status) => {
    expect(poll({ code: 0, data: { task_status } })).toEqual({ state: "waiting", job: JOB });
  });

  test.each([
    ["the image violates our policy", "content_blocked"],
    ["internal trouble", "upstream_failed"],
    [undefined, "upstream_failed"],
  ])("may fail: %s", (task_status_msg, kind) => {
    expect(poll({ code: 0, data: { task_status: "failed", task_status_msg } })).toMatchObject({
      state: "failed",
      error: { kind },
    });
  });

  test.each([
    ["<html></html>", "upstream_failed"],
    [{ code: 1000, message: "signature" }, "upstream_credentials"],
    [{ code: 0, data: { task_status: "succeed", task_result: {} } }, "upstream_failed"],
  ])("%o is polled again", (body, kind) => {
    expect(thrownBy(() => poll(body)).kind).toBe(kind);
  });
});

test.each([
  [401, 1002, "upstream_credentials"],
  [429, 1100, "upstream_credentials"],
  [429, 1102, "upstream_credentials"],
  [429, 1101, "upstream_credentials"],
  [429, 9999, "rate_limited"],
  [404, 9999, "not_found"],
  [503, 9999, "overloaded"],
])("providers 3.4: HTTP %d with code %d", (status, code, kind) => {
  expect<string>(images.error(mediaAnswer({ code, message: "words" }, status)).kind).toBe(kind);
});
