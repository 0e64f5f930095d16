import { describe, expect, test } from "bun:test";
import { adapterContext, imageCall, jsonOf, mediaAnswer, PNG, thrownBy } from "../media-adapters/media-calls.sample.ts";
import { wanImages } from "./wan-images.ts";

const MODEL = "wan2.7-image";
const CONTEXT = adapterContext(MODEL);
const JOB = { id: "task-1" };
const DATA_URL = `data:image/png;base64,${PNG.base64}`;

const submit = (fields: Parameters<typeof imageCall>[0], model = MODEL) =>
  wanImages.submit(imageCall(fields), adapterContext(model));
const poll = (body: Parameters<typeof mediaAnswer>[0]) => wanImages.readPoll?.(mediaAnswer(body), JOB, CONTEXT);

describe("providers 2.5: what is sent", () => {
  test("version 2.7 reads messages; the count is sent, because its default is four", () => {
    const request = submit({ inputs: [PNG], pixels: { width: 2048, height: 2048 }, seed: 1 });
    expect(request).toMatchObject({
      method: "POST",
      url: "/services/aigc/image-generation/generation",
      headers: { "x-dashscope-async": "enable" },
    });
    expect(jsonOf(request)).toEqual({
      model: MODEL,
      input: { messages: [{ role: "user", content: [{ image: DATA_URL }, { text: "a red fox" }] }] },
      parameters: { n: 1, watermark: false, size: "2048*2048", seed: 1 },
    });
  });

  test("older models have a path for each kind of work, and the negative prompt next to the prompt", () => {
    const fromText = submit({ count: 2, negativePrompt: "hounds" }, "wan2.2-t2i-flash");
    expect(fromText.url).toBe("/services/aigc/text2image/image-synthesis");
    expect(jsonOf(fromText)).toEqual({
      model: "wan2.2-t2i-flash",
      input: { prompt: "a red fox", negative_prompt: "hounds" },
      parameters: { n: 2, watermark: false },
    });
    const fromImage = submit({ inputs: [PNG] }, "wan2.5-i2i-preview");
    expect(fromImage.url).toBe("/services/aigc/image2image/image-synthesis");
    expect(jsonOf(fromImage)["input"]).toEqual({ prompt: "a red fox", images: [DATA_URL] });
  });

  test("a task is polled by its id", () => {
    const readSubmit = (body: Parameters<typeof mediaAnswer>[0]) =>
      wanImages.readSubmit(mediaAnswer(body), imageCall(), CONTEXT);
    const accepted = { output: { task_id: "task-1", task_status: "PENDING" }, request_id: "r" };
    expect(readSubmit(accepted)).toEqual({ state: "waiting", job: JOB });
    expect(wanImages.poll?.(JOB, CONTEXT)).toEqual({ method: "GET", url: "/tasks/task-1" });
    expect(thrownBy(() => readSubmit({ code: "InvalidParameter", message: "size" }))).toEqual({
      kind: "invalid_request",
      message: "size",
    });
    expect(thrownBy(() => readSubmit("")).kind).toBe("upstream_failed");
  });
});

describe("providers 2.5: the state of a task", () => {
  test.each(["PENDING", "RUNNING", "A_WORD_OF_TOMORROW"])("%s is waiting", (task_status) => {
    expect(poll({ output: { task_id: "task-1", task_status } })).toEqual({ state: "waiting", job: JOB });
  });

  test("of three images one was blocked and one failed", () => {
    const body = {
      output: {
        task_status: "SUCCEEDED",
        results: [
          { url: "https://files.example/1.png", actual_prompt: "a red fox in snow" },
          { code: "DataInspectionFailed", message: "held back" },
          { code: "InternalError.Timeout", message: "too slow" },
        ],
        task_metrics: { TOTAL: 3, SUCCEEDED: 1, FAILED: 2 },
      },
      usage: { image_count: 1 },
    };
    expect(poll(body)).toMatchObject({
      state: "done",
      reply: {
        results: [
          { kind: "made", image: { url: "https://files.example/1.png" }, revisedPrompt: "a red fox in snow" },
          { kind: "filtered", reason: "held back" },
          { kind: "failed", error: { kind: "upstream_failed" } },
        ],
        usage: { images: 1 },
      },
    });
  });

  test("messages may hold images too", () => {
    const choices = [{ message: { content: [{ type: "image", image: "https://files.example/1.png" }] } }];
    expect(poll({ output: { task_status: "SUCCEEDED", choices } })).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: { url: "https://files.example/1.png" } }] },
    });
  });

  test.each([
    [{ task_status: "FAILED", code: "DataInspectionFailed", message: "no" }, "content_blocked"],
    [{ task_status: "FAILED", code: "InternalError", message: "broken" }, "upstream_failed"],
    [{ task_status: "CANCELED" }, "upstream_failed"],
    [{ task_status: "UNKNOWN" }, "upstream_failed"],
  ])("%o has failed", (output, kind) => {
    expect(poll({ output })).toMatchObject({ state: "failed", error: { kind } });
  });

  test.each([
    ["<html></html>", "upstream_failed"],
    [{ output: { task_status: "SUCCEEDED", results: [] } }, "upstream_failed"],
    [{ code: "Throttling", message: "slow down" }, "rate_limited"],
  ])("%o is polled again", (body, kind) => {
    expect(thrownBy(() => poll(body)).kind).toBe(kind);
  });
});

test.each([
  [MODEL, 9, ["1K", "2K"], false],
  ["wan2.7-image-pro", 9, ["1K", "2K", "4K"], false],
  ["wan2.2-t2i-flash", 0, ["1K"], true],
])("providers 2.5: capabilities of %s", (model, maxInputs, tiers, avoids) => {
  const capabilities = wanImages.capabilities(model);
  expect(wanImages.serves(model)).toBe(true);
  expect(capabilities).toMatchObject({ maxCount: 4, perCall: 4, maxInputs, sizes: { tiers } });
  expect(capabilities.takes.includes("negativePrompt")).toBe(avoids);
});
