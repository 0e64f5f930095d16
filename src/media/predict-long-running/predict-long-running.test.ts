import { describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { GoogleGenAI as OlderGenAI } from "genai-1";
import { GatewayError } from "../../canon/error.ts";
import type { Operation, OperationPart } from "../../canon/operation.ts";
import { decodePoll } from "./decode-poll.ts";
import { decodeVideo } from "./decode-video.ts";
import { encodeOperation } from "./encode-operation.ts";
import { operationName } from "./operation-name.ts";

const refused = (act: () => unknown): { path: string | undefined; message: string } => {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "invalid_request")
      return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
};
const PNG = { bytesBase64Encoded: "iVBORw==", mimeType: "image/png" };

describe("contract 2.1: a video request", () => {
  test("the smallest ones", () => {
    expect(decodeVideo({ instances: [{ prompt: "a fox" }] })).toMatchObject({
      call: { prompt: "a fox", count: 1, extras: {} },
      links: [],
      notes: [],
    });
    const { call } = decodeVideo({ instances: [{ image: PNG }] });
    expect(call).toEqual({ image: { mimeType: "image/png", base64: "iVBORw==" }, count: 1, extras: {} });
  });

  test("every field, in the spellings that clients have", () => {
    const { call } = decodeVideo({
      instances: [
        { prompt: "a fox", image: PNG, last_frame: { bytes_base64_encoded: "-_-_", mime_type: "IMAGE/JPEG" } },
      ],
      parameters: {
        aspectRatio: "9:16",
        resolution: "1080P",
        duration_seconds: 8,
        generateAudio: true,
        negativePrompt: "n",
        enhancePrompt: false,
        personGeneration: "ALLOW_ADULT",
        sampleCount: 2,
        seed: 1,
        fps: 24,
        storageUri: "gs://b",
        camera_fixed: true,
      },
    });
    expect(call).toEqual({
      prompt: "a fox",
      image: { mimeType: "image/png", base64: "iVBORw==" },
      lastFrame: { mimeType: "image/jpeg", base64: "+/+/" },
      count: 2,
      aspectRatio: "9:16",
      resolution: "1080p",
      seconds: 8,
      audio: true,
      negativePrompt: "n",
      enhancePrompt: false,
      personGeneration: "allow_adult",
      seed: 1,
      fps: 24,
      extras: { storageUri: "gs://b", camera_fixed: true },
      extraPaths: new Map([
        ["storageUri", "parameters.storageUri"],
        ["camera_fixed", "parameters.camera_fixed"],
      ]),
    });
  });

  test("a frame given by URL is still to be fetched", () => {
    const { call, links } = decodeVideo({ instances: [{ image: { gcsUri: "https://example.com/a.png" } }] });
    expect(links).toEqual([{ url: "https://example.com/a.png", field: "image" }]);
    expect(call).not.toHaveProperty("image");
  });

  const wrong: [object, object, string, string][] = [
    [{}, {}, "instances[0].prompt", "unless instances[0].image is given"],
    [{ prompt: "" }, {}, "instances[0].prompt", "non-empty"],
    [{ prompt: "a", image: { gcsUri: "gs://b/a" } }, {}, "instances[0].image.gcsUri", "bytesBase64Encoded"],
    [{ prompt: "a" }, { durationSeconds: "8" }, "parameters.durationSeconds", 'an integer of at least 1; it is "8"'],
    [{ prompt: "a" }, { durationSeconds: 7.5 }, "parameters.durationSeconds", "7.5"],
    [{ prompt: "a" }, { resolution: "full" }, "parameters.resolution", '"720p", "1080p" or "4k"; it is "full"'],
    [{ prompt: "a" }, { sampleCount: 0 }, "parameters.sampleCount", "at least 1"],
    [{ prompt: "a" }, { generateAudio: "on" }, "parameters.generateAudio", "true or false"],
    [{ prompt: "a" }, { personGeneration: "x" }, "parameters.personGeneration", "dont_allow"],
    [{ prompt: "a" }, { fps: 0 }, "parameters.fps", "at least 1"],
    [{ prompt: "a" }, { aspectRatio: "16/9" }, "parameters.aspectRatio", '"16:9"'],
  ];
  test.each(wrong)("%j with %j is rejected in words", (instance, parameters, path, words) => {
    const error = refused(() => decodeVideo({ instances: [instance], parameters }));
    expect(error.path).toBe(path);
    expect(error.message).toContain(words);
  });
});

describe("contract 2.3: a poll", () => {
  test("a name as it was given, with or without a project before it", () => {
    const name = operationName("acme/video-1.5", "op_01-x");
    expect(name).toBe("publishers/acme/models/video-1.5/operations/op_01-x");
    const named = { operationId: "op_01-x", model: "acme/video-1.5" };
    expect(decodePoll({ operationName: name })).toEqual(named);
    expect(decodePoll({ operation_name: `projects/p/locations/us/${name}` })).toEqual(named);
  });

  test.each([
    "",
    "op_1",
    "publishers/a/models/b/operations/",
    "publishers/a/models/b/operations/../x",
    "models/b/operations/1",
  ])("%p is rejected with the shape", (operationName) => {
    const error = refused(() => decodePoll({ operationName }));
    expect(error.path).toBe("operationName");
    expect(error.message).toContain("publishers/<provider>/models/<model>/operations/<operation_id>");
  });

  test("a missing or numeric name is rejected", () => {
    expect(refused(() => decodePoll({})).message).toBe("operationName must be a string; it is missing.");
    expect(refused(() => decodePoll({ operationName: 5 })).message).toContain("it is 5");
  });
});

const part = (fields: Partial<OperationPart> = {}): OperationPart => ({
  state: "waiting",
  count: 1,
  dueAtMs: 0,
  failures: 0,
  videos: [],
  filtered: [],
  ...fields,
});
const operation = (fields: Partial<Operation>): Operation => ({
  id: "op1",
  project: "default",
  keyId: "k",
  receiptId: "r",
  model: "acme/video",
  provider: "acme",
  credential: "c",
  state: "running",
  job: {
    upstreamModel: "video",
    count: 2,
    seconds: 8,
    resolution: "720p",
    audio: false,
    pricings: {},
    notes: [],
    offers: [],
  },
  parts: [part(), part()],
  requestDigest: "d",
  claimed: true,
  createdAtMs: 0,
  deadlineAtMs: 0,
  dueAtMs: 0,
  ...fields,
});
const name = "publishers/acme/models/video/operations/op1";
const TYPE = "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse";

describe("contract 2.2 and 3: an operation", () => {
  test("in progress: its name, and its progress where known", () => {
    expect(encodeOperation(operation({ state: "submitting" }), [])).toEqual({ name });
    expect(encodeOperation(operation({}), [])).toEqual({ name });
    const parts = [part({ progress: 31 }), part({ state: "done" })];
    expect(encodeOperation(operation({ parts }), [])).toEqual({ name, metadata: { progressPercent: 65 } });
  });

  test("done: its videos, and those that moderation blocked", () => {
    const parts = [part({ state: "done" }), part({ state: "done", filtered: ["violence"] })];
    const videos = [
      { url: "https://gateway.example/v", mimeType: "video/mp4" },
      { base64: "AAAA", mimeType: "video/mp4" },
    ];
    expect(encodeOperation(operation({ state: "done", parts }), videos)).toEqual({
      name,
      done: true,
      response: {
        "@type": TYPE,
        raiMediaFilteredCount: 1,
        raiMediaFilteredReasons: ["violence"],
        videos: [
          { gcsUri: "https://gateway.example/v", mimeType: "video/mp4" },
          { bytesBase64Encoded: "AAAA", mimeType: "video/mp4" },
        ],
      },
    });
  });

  test("videos that failed while others were made are reported in the metadata", () => {
    const error = { kind: "upstream_timeout", message: "too long" } as const;
    const parts = [part({ state: "done" }), part({ state: "failed", error })];
    expect(encodeOperation(operation({ state: "done", parts }), [])).toMatchObject({
      done: true,
      metadata: { failures: [{ code: 4, message: "too long" }] },
    });
  });

  const failures = [
    ["invalid_request", 3],
    ["upstream_timeout", 4],
    ["rate_limited", 8],
    ["internal", 13],
    ["upstream_failed", 14],
  ] as const;
  test.each(failures)("choices 5: failed by %s, its error has the code %d", (kind, code) => {
    const failed = operation({ state: "failed", error: { kind, message: "no" } });
    expect(encodeOperation(failed, [])).toEqual({ name, done: true, error: { code, message: "no" } });
  });

  test("contract 7: blocked by moderation, it is done with every video filtered", () => {
    const failed = operation({ state: "failed", error: { kind: "content_blocked", message: "blocked" } });
    expect(encodeOperation(failed, [])).toEqual({
      name,
      done: true,
      response: {
        "@type": TYPE,
        raiMediaFilteredCount: 2,
        raiMediaFilteredReasons: ["blocked", "blocked"],
        videos: [],
      },
    });
  });

  test.each([
    ["2", GoogleGenAI],
    ["1", OlderGenAI as unknown as typeof GoogleGenAI],
  ] as const)("@google/genai %s follows an operation to its end", async (_, Client) => {
    const running = operation({ parts: [part({ progress: 50 })] });
    const done = operation({ state: "done", parts: [part({ state: "done", filtered: ["x"] })] });
    const failed = operation({ state: "failed", error: { kind: "upstream_failed", message: "broken" } });
    const answers = [running, running, done, failed].map((state) =>
      encodeOperation(state, state === done ? [{ url: "https://gateway.example/v", mimeType: "video/mp4" }] : []),
    );
    const polled: unknown[] = [];
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const body: unknown = await request.json();
        polled.push(request.url.endsWith(":fetchPredictOperation") ? decodePoll(body) : decodeVideo(body).call.prompt);
        return Response.json(answers.shift());
      },
    });
    const httpOptions = { baseUrl: server.url.href, apiVersion: "v1" };
    const client = new Client({ vertexai: true, apiKey: "key", httpOptions });
    const first = await client.models.generateVideos({ model: "acme/video", source: { prompt: "a fox" } });
    const poll = () => client.operations.getVideosOperation({ operation: first });
    expect((await poll()).done ?? false).toBe(false);
    const ended = await poll();
    expect(ended.response?.generatedVideos?.[0]?.video?.uri).toBe("https://gateway.example/v");
    expect(ended.response?.raiMediaFilteredCount).toBe(1);
    expect((await poll()).error).toMatchObject({ code: 14, message: "broken" });
    const named = { operationId: "op1", model: "acme/video" };
    expect(polled).toEqual(["a fox", named, named, named]);
  });
});
