import { beforeEach, describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { sniffImage } from "../../sniff-image.ts";
import { hunyuanMedia } from "./media.ts";
import { HUNYUAN_SECRET } from "./verify-signature.ts";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(hunyuanMedia);
});

const PATH = "/hosts/hunyuan/";
const hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

interface Signing {
  secretId?: string;
  secret?: string;
  service?: string;
  version?: string;
  timestamp?: number;
  signedPath?: string;
  signedBody?: JsonObject;
  signedHeaders?: readonly string[];
  without?: string;
}

function signed(action: string, body: JsonObject, signing: Signing): Record<string, string> {
  const { secretId = "any-id", secret = HUNYUAN_SECRET, service = "aiart", version = "2022-12-29" } = signing;
  const timestamp = String(signing.timestamp ?? Math.floor(harness.nowMs / 1000));
  const day = new Date(Number(timestamp) * 1000).toISOString().slice(0, 10);
  const headers: Record<string, string> = {
    "content-type": "application/json; charset=utf-8",
    host: "127.0.0.1:9",
    "x-tc-action": action,
    "x-tc-version": version,
    "x-tc-region": "ap-guangzhou",
    "x-tc-timestamp": timestamp,
  };
  const names = signing.signedHeaders ?? ["content-type", "host"];
  const lines = names.map((name) => `${name}:${(headers[name] ?? "").toLowerCase()}\n`).join("");
  const payload = hex(JSON.stringify(signing.signedBody ?? body));
  const canonical = `POST\n${signing.signedPath ?? "/"}\n\n${lines}\n${names.join(";")}\n${payload}`;
  const scope = `${day}/${service}/tc3_request`;
  const key = hmac(hmac(hmac(`TC3${secret}`, day), service), "tc3_request");
  const signature = hmac(key, `TC3-HMAC-SHA256\n${timestamp}\n${scope}\n${hex(canonical)}`).toString("hex");
  const authorization = `TC3-HMAC-SHA256 Credential=${secretId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  const all = { ...headers, authorization };
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== signing.without));
}

async function act(action: string, body: JsonObject, signing: Signing = {}): Promise<JsonObject> {
  const reply = await harness.send(PATH, { headers: signed(action, body, signing), body });
  expect(reply.status).toBe(200);
  return reply.body["Response"] as JsonObject;
}
const submit = (body: JsonObject, signing: Signing = {}) =>
  act("SubmitTextToImageJob", { Prompt: "a cat", ...body }, signing);
const query = (id: unknown, signing: Signing = {}) => act("QueryTextToImageJob", { JobId: String(id) }, signing);
const codeOf = (response: JsonObject): unknown => (response["Error"] as JsonObject | undefined)?.["Code"];
const ended = async (body: JsonObject): Promise<JsonObject> => {
  const { JobId } = await submit(body);
  harness.nowMs += harness.takesMs;
  return query(JobId);
};

describe("providers 2.9: the signature", () => {
  test("is verified over the headers and the body, with the path or without it", async () => {
    expect((await submit({}))["JobId"]).toBeString();
    harness.nowMs += harness.takesMs;
    expect((await submit({}, { signedPath: PATH }))["JobId"]).toBeString();
    harness.nowMs += harness.takesMs;
    expect((await submit({}, { signedHeaders: ["content-type", "host", "x-tc-action"] }))["JobId"]).toBeString();
  });

  test("is refused where anything of it is not right", async () => {
    const now = Math.floor(harness.nowMs / 1000);
    const refusals: readonly [Signing, string][] = [
      [{ secret: "another" }, "AuthFailure.SignatureFailure"],
      [{ signedBody: { Prompt: "another" } }, "AuthFailure.SignatureFailure"],
      [{ signedPath: "/elsewhere" }, "AuthFailure.SignatureFailure"],
      [{ service: "hunyuan" }, "AuthFailure.SignatureFailure"],
      [{ signedHeaders: ["host"] }, "AuthFailure.SignatureFailure"],
      [{ secretId: "wrong" }, "AuthFailure.SecretIdNotFound"],
      [{ timestamp: now - 301 }, "AuthFailure.SignatureExpire"],
      [{ without: "authorization" }, "AuthFailure.InvalidAuthorization"],
      [{ without: "x-tc-region" }, "MissingParameter"],
      [{ version: "2023-09-01" }, "NoSuchVersion"],
    ];
    for (const [signing, code] of refusals) expect(codeOf(await submit({}, signing))).toBe(code);
    expect(harness.context.jobs.made).toBe(0);
  });

  test("a request without an action is not for this host", async () => {
    expect(await harness.answerTo("/hosts/hunyuan/v1/chat/completions", { body: {} })).toBeUndefined();
    expect(codeOf(await act("PaintMyHouse", {}))).toBe("InvalidAction");
  });
});

describe("providers 2.9: Hunyuan's jobs", () => {
  test("1, 2, 5; the image has its size, and its link lives an hour", async () => {
    const { JobId } = await act("standard", { Prompt: "a cat", Resolution: "640:1408", Revise: 0, Seed: 5 });
    expect(await query(JobId)).toMatchObject({ JobStatusCode: "1", ResultImage: [] });
    harness.nowMs += 10;
    expect(await query(JobId)).toMatchObject({ JobStatusCode: "2" });
    harness.nowMs += 10;
    const done = await query(JobId);
    expect(done).toMatchObject({
      JobStatusCode: "5",
      JobErrorCode: "",
      ResultDetails: ["Success"],
      RevisedPrompt: ["a cat"],
    });
    const [url] = done["ResultImage"] as string[];
    expect(await harness.sizeOfLink(url)).toEqual({ width: 640, height: 1408 });
    harness.nowMs += 3_600_000;
    expect((await harness.fetchLink(url)).status).toBe(403);
  });

  test("a prompt is rewritten unless that is declined", async () => {
    const [revised] = (await ended({}))["RevisedPrompt"] as string[];
    expect(revised).not.toBe("a cat");
  });

  test("one job runs at a time, of each caller", async () => {
    await submit({});
    expect(codeOf(await submit({}))).toBe("RequestLimitExceeded.JobNumExceed");
    expect((await submit({}, { secretId: "another-id" }))["JobId"]).toBeString();
    harness.nowMs += harness.takesMs;
    expect((await submit({}))["JobId"]).toBeString();
  });

  const REFUSED: readonly [string, JsonObject, string][] = [
    ["a prompt that is too long", { Prompt: "a".repeat(1025) }, "InvalidParameterValue"],
    ["a size with an x", { Resolution: "1024x1024" }, "InvalidParameterValue"],
    ["a side that is too long", { Resolution: "2048:1024" }, "InvalidParameterValue"],
    ["true for 1", { LogoAdd: true }, "InvalidParameterValue"],
    ["a negative prompt", { NegativePrompt: "dogs" }, "UnknownParameter"],
    ["several images", { Num: 2 }, "UnknownParameter"],
    ["small letters", { prompt: "a cat" }, "UnknownParameter"],
  ];
  test.each(REFUSED)("refuses %s", async (_, body, code) => {
    expect(codeOf(await submit(body))).toBe(code);
  });

  test("outcomes of a job", async () => {
    expect(await ended({ Prompt: "sim:moderated" })).toMatchObject({
      JobStatusCode: "4",
      JobErrorCode: "OperationDenied.ImageIllegalDetected",
    });
    expect(await ended({ Prompt: "sim:fails" })).toMatchObject({
      JobStatusCode: "4",
      JobErrorCode: "FailedOperation.GenerateImageFailed",
    });
    const pair = [await ended({ Prompt: "sim:one-fails" }), await ended({ Prompt: "sim:one-fails" })];
    expect(pair.map(({ JobStatusCode }) => JobStatusCode)).toEqual(["4", "5"]);
    expect(codeOf(await ended({ Prompt: "sim:forgotten" }))).toBe("FailedOperation.JobNotExist");
    const [dead] = (await ended({ Prompt: "sim:expired" }))["ResultImage"] as string[];
    expect((await harness.fetchLink(dead)).status).toBe(403);
    expect(await ended({ Prompt: "sim:slow" })).toMatchObject({ JobStatusCode: "1" });
  });

  const IMMEDIATE_ERRORS: readonly [string, string][] = [
    ["blocked", "OperationDenied.TextIllegalDetected"],
    ["busy", "RequestLimitExceeded"],
    ["broken", "InternalError"],
    ["overloaded", "ResourceUnavailable"],
  ];
  test.each(IMMEDIATE_ERRORS)("simulates %s inside HTTP 200", async (outcome, code) => {
    expect(codeOf(await submit({ Prompt: `sim:${outcome}` }))).toBe(code);
  });

  test("simulates garbage", async () => {
    const body = { Prompt: "sim:garbage" };
    const { text } = await harness.send(PATH, { headers: signed("SubmitTextToImageJob", body, {}), body });
    expect(text).toStartWith("<html>");
  });
});

describe("providers 2.9: the other actions", () => {
  test("the lite model responds immediately, in base64 or with a link, and accepts a negative prompt", async () => {
    const asked = { Prompt: "a cat", NegativePrompt: "dogs", Resolution: "640:640" };
    const { ResultImage } = await act("TextToImageLite", asked);
    expect(sniffImage(Buffer.from(String(ResultImage), "base64"))?.size).toEqual({ width: 640, height: 640 });
    harness.nowMs += harness.takesMs;
    const linked = await act("TextToImageLite", { ...asked, RspImgType: "url" });
    expect(await harness.sizeOfLink(linked["ResultImage"])).toEqual({ width: 640, height: 640 });
    harness.nowMs += harness.takesMs;
    expect(codeOf(await act("TextToImageLite", { Prompt: "sim:moderated" }))).toBe(
      "OperationDenied.ImageIllegalDetected",
    );
  });

  test("the older service makes several, one of which may be held back", async () => {
    const older = { service: "hunyuan", version: "2023-09-01" };
    const { JobId } = await act("SubmitHunyuanImageJob", { Prompt: "sim:one-fails", Num: 3 }, older);
    harness.nowMs += harness.takesMs;
    const done = await act("QueryHunyuanImageJob", { JobId: String(JobId) }, older);
    expect(done["ResultImage"]).toHaveLength(2);
    expect(done["ResultDetails"]).toHaveLength(3);
    expect(codeOf(await query(JobId))).toBe("FailedOperation.JobNotExist");
  });
});
