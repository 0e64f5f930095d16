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
import { hunyuan } from "./index.ts";
import { liteImages } from "./lite-images.ts";

const CONTEXT = adapterContext("SubmitTextToImageJob");
const JOB = { id: "job-9" };

const submit = (fields: Parameters<typeof imageCall>[0] = {}) => images.submit(imageCall(fields), CONTEXT);
const readSubmit = (body: Parameters<typeof mediaAnswer>[0]) =>
  images.readSubmit(mediaAnswer(body), imageCall(), CONTEXT);
const poll = (Response: object) => images.readPoll?.(mediaAnswer({ Response }), JOB, CONTEXT);

describe("providers 2.9: what is sent", () => {
  test("a minimal call asks for no watermark, which the host would add", () => {
    expect(submit({ pixels: { width: 1280, height: 768 } })).toEqual({
      method: "POST",
      url: "/",
      headers: {
        "content-type": "application/json",
        "x-tc-action": "SubmitTextToImageJob",
        "x-tc-version": "2022-12-29",
        "x-tc-region": "ap-guangzhou",
      },
      body: { json: { Prompt: "a red fox", LogoAdd: 0, Resolution: "1280:768" } },
    });
  });

  test("contract 2.4: every option", () => {
    const extras = { LogoParam: { LogoUrl: "https://example.com/logo.png" }, Style: "none" };
    expect(jsonOf(submit({ seed: 7, watermark: true, enhancePrompt: true, inputs: [PNG], extras }))).toEqual({
      LogoParam: { LogoUrl: "https://example.com/logo.png" },
      Prompt: "a red fox",
      LogoAdd: 1,
      Images: [PNG.base64],
      Seed: 7,
      Revise: 1,
    });
  });

  test("a seed alone turns off prompt rewriting, which would make it worthless", () => {
    expect(jsonOf(submit({ seed: 7 }))).toEqual({ Prompt: "a red fox", LogoAdd: 0, Seed: 7, Revise: 0 });
  });

  test("the account's region is used", () => {
    const request = images.submit(imageCall(), { ...CONTEXT, settings: { region: "ap-shanghai" } });
    expect(request.headers?.["x-tc-region"]).toBe("ap-shanghai");
  });

  test("every request is signed, for this host's service", () => {
    const settings = { name: "h", kind: "hunyuan", secretId: "AKIDexample", secretKey: new Secret("secret-example") };
    const headers = hunyuan.sign?.(
      settings,
      system,
    )?.({
      url: "https://aiart.tencentcloudapi.com/",
      headers: { "content-type": "application/json", "x-tc-action": "QueryTextToImageJob" },
      body: "{}",
    });
    expect(headers?.["authorization"]).toMatch(
      /^TC3-HMAC-SHA256 Credential=AKIDexample\/[\d-]{10}\/aiart\/tc3_request, SignedHeaders=content-type;host;x-tc-action, /,
    );
  });
});

describe("providers 2.9: a job", () => {
  test("is polled by its id", () => {
    expect(readSubmit({ Response: { JobId: "job-9", RequestId: "r" } })).toEqual({ state: "waiting", job: JOB });
    const request = images.poll?.(JOB, CONTEXT);
    expect(request).toMatchObject({ method: "POST", url: "/", headers: { "x-tc-action": "QueryTextToImageJob" } });
    expect(request?.body).toEqual({ json: { JobId: "job-9" } });
  });

  test.each([
    ["AuthFailure.SignatureFailure", "upstream_credentials"],
    ["RequestLimitExceeded.JobNumExceed", "rate_limited"],
    ["OperationDenied.TextIllegalDetected", "content_blocked"],
    ["ResourceUnavailable.InArrears", "upstream_credentials"],
    ["InvalidParameterValue.Resolution", "invalid_request"],
    ["FailedOperation.Inner", "upstream_failed"],
  ])("%s with HTTP 200 is thrown", (Code, kind) => {
    const body = { Response: { Error: { Code, Message: "words" }, RequestId: "r" } };
    expect(thrownBy(() => readSubmit(body)).kind).toBe(kind);
    expect<string>(images.error(mediaAnswer(body, 400)).kind).toBe(
      kind === "upstream_failed" ? "invalid_request" : kind,
    );
  });

  test.each(["1", "2", "7"])("state %s: waiting", (JobStatusCode) => {
    expect(poll({ JobStatusCode })).toEqual({ state: "waiting", job: JOB });
  });

  test("has an image at the end, and the rewritten prompt", () => {
    const url = "https://files.example/1.png";
    expect(poll({ JobStatusCode: "5", ResultImage: [url], RevisedPrompt: ["a red fox in snow"] })).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: { url }, revisedPrompt: "a red fox in snow" }] },
    });
  });

  test.each([
    ["OperationDenied.ImageIllegalDetected", "content_blocked"],
    ["FailedOperation.Inner", "upstream_failed"],
  ])("may fail: %s", (JobErrorCode, kind) => {
    expect(poll({ JobStatusCode: "4", JobErrorCode, JobErrorMsg: "words" })).toMatchObject({
      state: "failed",
      error: { kind },
    });
  });

  test.each([
    [{ Error: { Code: "RequestLimitExceeded", Message: "slow down" } }, "rate_limited"],
    [{ JobStatusCode: "5", ResultImage: [] }, "upstream_failed"],
    [{}, "upstream_failed"],
  ])("%o is polled again", (response, kind) => {
    expect(thrownBy(() => poll(response)).kind).toBe(kind);
  });
});

test("providers 2.9: every size is one of the host's pairs", () => {
  const { sizes, maxCount } = images.capabilities("SubmitTextToImageJob");
  if (sizes.kind !== "presets") throw new Error("sizes are presets");
  expect(maxCount).toBe(1);
  expect(sizes.sizes[0]).toEqual({ width: 1024, height: 1024 });
  expect(sizes.sizes).toContainEqual({ width: 640, height: 1408 });
  expect(sizes.sizes).toContainEqual({ width: 1408, height: 640 });
});

describe("providers 2.9: the lite model answers immediately", () => {
  const context = adapterContext("TextToImageLite");

  test("a request asks for the image itself", () => {
    const call = imageCall({ negativePrompt: "hounds", seed: 7, pixels: { width: 768, height: 1024 } });
    const request = liteImages.submit(call, context);
    expect(request.headers?.["x-tc-action"]).toBe("TextToImageLite");
    expect(jsonOf(request)).toEqual({
      Prompt: "a red fox",
      LogoAdd: 0,
      RspImgType: "base64",
      Resolution: "768:1024",
      NegativePrompt: "hounds",
      Seed: 7,
    });
  });

  test("the answer holds it, or a refusal", () => {
    const read = (Response: object) => liteImages.readSubmit(mediaAnswer({ Response }), imageCall(), context);
    expect(read({ ResultImage: JPEG.base64, Seed: 7 })).toEqual({
      state: "done",
      reply: { results: [{ kind: "made", image: JPEG }] },
    });
    expect(thrownBy(() => read({ Error: { Code: "OperationDenied.TextIllegalDetected", Message: "no" } }))).toEqual({
      kind: "content_blocked",
      message: "no",
    });
    expect(thrownBy(() => read({})).kind).toBe("upstream_failed");
  });
});
