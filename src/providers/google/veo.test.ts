import { describe, expect, test } from "bun:test";
import {
  adapterContext,
  JPEG,
  jsonOf,
  mediaAnswer,
  PNG,
  thrownBy,
  videoCall,
} from "../media-adapters/media-calls.sample.ts";
import { recordedAnswer, recordingsThere } from "./recordings.sample.ts";
import { veo } from "./veo.ts";

const gemini = veo({ name: "gemini", models: () => "/v1beta/models" });
const vertex = veo({ name: "vertex", models: ({ project }) => `/v1/projects/${project}/models` });
const VEO = "veo-3.1-generate-001";
const context = { ...adapterContext(VEO), settings: { project: "p" } };
const VERTEX_NAME = "projects/p/locations/us-central1/publishers/google/models/veo-3.1-generate-001/operations/4f";
const NAME = "models/veo-3.1-generate-001/operations/umz7";
const poll = (body: Parameters<typeof mediaAnswer>[0], adapter = vertex) =>
  adapter.readPoll?.(mediaAnswer(body), { name: NAME }, context);

describe("providers 3.1: requests to Veo", () => {
  const full = {
    image: PNG,
    lastFrame: JPEG,
    aspectRatio: "9:16",
    resolution: "1080p",
    negativePrompt: "snow",
    enhancePrompt: true,
    personGeneration: "allow_adult",
    seed: 5,
    extras: { resizeMode: "pad", storageUri: "gs://somebody-elses" },
  };

  test("contract 2.1: every field that Vertex takes", () => {
    const request = vertex.submit(videoCall({ ...full, count: 2, audio: false }), context);
    expect(request).toMatchObject({ method: "POST", url: `/v1/projects/p/models/${VEO}:predictLongRunning` });
    expect(jsonOf(request)).toEqual({
      instances: [
        {
          prompt: "a red fox runs",
          image: { bytesBase64Encoded: PNG.base64, mimeType: "image/png" },
          lastFrame: { bytesBase64Encoded: JPEG.base64, mimeType: "image/jpeg" },
        },
      ],
      parameters: {
        resizeMode: "pad",
        sampleCount: 2,
        durationSeconds: 8,
        aspectRatio: "9:16",
        resolution: "1080p",
        generateAudio: false,
        negativePrompt: "snow",
        enhancePrompt: true,
        personGeneration: "allow_adult",
        seed: 5,
      },
    });
  });

  test("the Gemini API takes no sound, and the second generation neither sound nor resolution", () => {
    const parameters = (adapter: typeof vertex, model: string) =>
      jsonOf(adapter.submit(videoCall({ extras: full.extras }), { ...context, model }))["parameters"];
    expect(parameters(gemini, VEO)).toEqual({ sampleCount: 1, durationSeconds: 8, resolution: "720p" });
    expect(parameters(vertex, "veo-2.0-generate-001")).toEqual({
      resizeMode: "pad",
      sampleCount: 1,
      durationSeconds: 8,
    });
  });

  test("each host is polled in its own way", () => {
    expect(vertex.poll?.({ name: VERTEX_NAME }, context)).toEqual({
      method: "POST",
      url: `/v1/projects/p/models/${VEO}:fetchPredictOperation`,
      body: { json: { operationName: VERTEX_NAME } },
    });
    expect(gemini.poll?.({ name: NAME }, context)).toEqual({ method: "GET", url: `/v1beta/${NAME}` });
  });

  test.each(["models/x/../../files/secret", "models/x/operations/1?key=2", "https://elsewhere.example/operations/1"])(
    "a name that would lead elsewhere is not polled: %s",
    (name) => {
      expect(thrownBy(() => gemini.poll?.({ name }, context))).toMatchObject({ kind: "upstream_failed" });
    },
  );

  test.each([
    ["vertex", VEO, { perJob: 4, seconds: [4, 6, 8], audio: "chosen", resolutions: ["720p", "1080p", "4k"] }],
    ["gemini", VEO, { perJob: 1, seconds: [4, 6, 8], audio: "always", lastFrame: true }],
    ["gemini", "veo-3.1-lite-generate-preview", { resolutions: ["720p", "1080p"] }],
    ["vertex", "veo-3.0-fast-generate-001", { resolutions: ["720p", "1080p"] }],
    ["vertex", "veo-2.0-generate-001", { seconds: { min: 5, max: 8 }, audio: "never", resolutions: ["720p"] }],
  ])("capabilities at %s of %s", (host, model, capabilities) => {
    expect((host === "vertex" ? vertex : gemini).capabilities(model)).toMatchObject(capabilities);
  });

  test("only Vertex takes a seed", () => {
    expect([vertex, gemini].map((adapter) => adapter.capabilities(VEO).takes.includes("seed"))).toEqual([true, false]);
  });
});

describe("contract 2.2: the life of an operation", () => {
  test("a new one is polled by its name", () => {
    const state = vertex.readSubmit(mediaAnswer({ name: VERTEX_NAME }), videoCall(), context);
    expect(state).toEqual({ state: "waiting", job: { name: VERTEX_NAME } });
    expect(thrownBy(() => vertex.readSubmit(mediaAnswer({}), videoCall(), context))).toMatchObject({
      kind: "upstream_failed",
    });
  });

  test.each([[{ name: NAME }], [{ name: NAME, done: false, metadata: {} }], [{}]])("not done yet: %j", (body) => {
    expect(poll(body)).toEqual({ state: "waiting", job: { name: NAME } });
  });

  test("videos of Vertex come in the answer", () => {
    const response = {
      "@type": "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse",
      videos: [{ bytesBase64Encoded: "AAAAIGZ0eXA=", mimeType: "video/mp4" }],
    };
    expect(poll({ name: NAME, done: true, response })).toEqual({
      state: "done",
      reply: { videos: [{ mimeType: "video/mp4", base64: "AAAAIGZ0eXA=" }], filtered: [] },
    });
  });

  test("blocked videos are counted, with or without a reason for each", () => {
    const video = { bytesBase64Encoded: "AAAAIGZ0eXA=", mimeType: "video/mp4" };
    const response = { videos: [video], raiMediaFilteredCount: 2, raiMediaFilteredReasons: ["Code 17301594"] };
    expect(poll({ done: true, response })).toMatchObject({
      state: "done",
      reply: { filtered: ["Code 17301594", "Code 17301594"] },
    });
    expect(poll({ done: true, response: { raiMediaFilteredCount: 1 } })).toEqual({
      state: "done",
      reply: { videos: [], filtered: ["The provider's safety filter blocked this video."] },
    });
  });

  test("samples of the Gemini API: a URL that needs the credential, or the video itself", () => {
    const generatedSamples = [
      { video: { uri: "https://generativelanguage.googleapis.com/v1beta/files/a:download?alt=media" } },
      { video: { encodedVideo: "AAAAIGZ0eXA=", encoding: "video/mp4" } },
    ];
    expect(poll({ done: true, response: { generateVideoResponse: { generatedSamples } } }, gemini)).toEqual({
      state: "done",
      reply: {
        videos: [
          {
            url: "https://generativelanguage.googleapis.com/v1beta/files/a:download?alt=media",
            mimeType: "video/mp4",
            credential: true,
          },
          { mimeType: "video/mp4", base64: "AAAAIGZ0eXA=" },
        ],
        filtered: [],
      },
    });
  });

  test.each([
    [3, "durationSeconds is out of range", "invalid_request"],
    [8, "Resource exhausted", "rate_limited"],
    [13, "Internal error", "upstream_failed"],
    [14, "Overloaded", "overloaded"],
    [7, "Permission denied on project", "upstream_credentials"],
  ])("error %d of an operation is its failure", (code, message, kind) => {
    expect(poll({ done: true, error: { code, message } })).toMatchObject({ state: "failed", error: { kind } });
  });

  test("a refused prompt is a blocked video", () => {
    const message = "The prompt could not be submitted. It violates the usage guidelines.";
    expect(poll({ done: true, error: { code: 3, message } })).toEqual({
      state: "done",
      reply: { videos: [], filtered: [message] },
    });
  });

  test("done without a video or a reason is a failure", () => {
    const bucket = { videos: [{ gcsUri: "gs://bucket/video.mp4" }] };
    for (const response of [undefined, {}, bucket]) {
      expect(poll({ done: true, response })).toMatchObject({ state: "failed", error: { kind: "upstream_failed" } });
    }
  });
});

test.skipIf(!recordingsThere)("a recorded job, from the submit to the video", () => {
  const step = (number: number) =>
    recordedAnswer(
      `video/google/ruby-llm.video-basic-functionality-gemi--erate-preview-can-animate-videos.t${number}.response.json`,
    );
  const job = { name: "models/veo-3.1-lite-generate-preview/operations/umz7sqimep69" };
  expect(gemini.readSubmit(step(1), videoCall(), context)).toEqual({ state: "waiting", job });
  expect(gemini.poll?.(job, context).url).toBe(`/v1beta/${job.name}`);
  expect(gemini.readPoll?.(step(2), job, context)).toEqual({ state: "waiting", job });
  expect(gemini.readPoll?.(step(6), job, context)).toEqual({
    state: "done",
    reply: {
      videos: [
        {
          url: "https://generativelanguage.googleapis.com/v1beta/files/zqw12cp8qc38:download?alt=media",
          mimeType: "video/mp4",
          credential: true,
        },
      ],
      filtered: [],
    },
  });
});
