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
import type { GoogleHost } from "./host.ts";
import { imagen } from "./imagen.ts";
import { recordedAnswer, recordingsThere } from "./recordings.sample.ts";

const GEMINI: GoogleHost = { name: "gemini", models: () => "/v1beta/models" };
const VERTEX: GoogleHost = { name: "vertex", models: ({ project }) => `/v1/projects/${project}/models` };
const gemini = imagen(GEMINI);
const vertex = imagen(VERTEX);
const IMAGEN_4 = "imagen-4.0-generate-001";
const CAPABILITY = "imagen-3.0-capability-001";
const context = (model: string) => ({ ...adapterContext(model), settings: { project: "p", location: "europe-west4" } });
const read = (body: Parameters<typeof mediaAnswer>[0], count = 1) =>
  vertex.readSubmit(mediaAnswer(body), imageCall({ count }), context(IMAGEN_4));
const resultsOf = (state: ReturnType<typeof read>) => (state.state === "done" ? state.reply.results : undefined);

describe("providers 2.2: requests to Imagen", () => {
  test("contract 2.4: every field that Vertex takes", () => {
    const request = vertex.submit(
      imageCall({
        count: 4,
        aspectRatio: "16:9",
        tier: "2K",
        negativePrompt: "snow",
        seed: 7,
        watermark: false,
        guidanceScale: 3.5,
        enhancePrompt: true,
        personGeneration: "allow_adult",
        safetySetting: "block_only_high",
        includeRaiReason: true,
        outputMimeType: "image/jpeg",
        compression: 80,
        extras: { language: "en", storageUri: "gs://somebody-elses", editConfig: { baseSteps: 3 } },
      }),
      context(IMAGEN_4),
    );
    expect(request).toMatchObject({ method: "POST", url: `/v1/projects/p/models/${IMAGEN_4}:predict` });
    expect(jsonOf(request)).toEqual({
      instances: [{ prompt: "a red fox" }],
      parameters: {
        language: "en",
        sampleCount: 4,
        aspectRatio: "16:9",
        sampleImageSize: "2K",
        negativePrompt: "snow",
        seed: 7,
        guidanceScale: 3.5,
        enhancePrompt: true,
        personGeneration: "allow_adult",
        safetySetting: "block_only_high",
        includeRaiReason: true,
        addWatermark: false,
        outputOptions: { mimeType: "image/jpeg", compressionQuality: 80 },
      },
    });
  });

  test("the smallest one", () => {
    const request = gemini.submit(imageCall(), context(IMAGEN_4));
    expect(request.url).toBe(`/v1beta/models/${IMAGEN_4}:predict`);
    expect(jsonOf(request)).toEqual({ instances: [{ prompt: "a red fox" }], parameters: { sampleCount: 1 } });
  });

  test("the host refuses a seed with the watermark, so a seed switches the default watermark off", () => {
    const parameters = (fields: Parameters<typeof imageCall>[0]) =>
      jsonOf(vertex.submit(imageCall(fields), context(IMAGEN_4)))["parameters"];
    expect(parameters({ seed: 1 })).toEqual({ sampleCount: 1, seed: 1, addWatermark: false });
    expect(parameters({ seed: 1, watermark: true })).toEqual({ sampleCount: 1, seed: 1, addWatermark: true });
  });

  test("contract 2.4: an image and its mask become references", () => {
    const request = vertex.submit(
      imageCall({ inputs: [JPEG], mask: PNG, extras: { editConfig: { baseSteps: 35 } } }),
      context(CAPABILITY),
    );
    expect(jsonOf(request)).toEqual({
      instances: [
        {
          prompt: "a red fox",
          referenceImages: [
            {
              referenceType: "REFERENCE_TYPE_RAW",
              referenceId: 1,
              referenceImage: { bytesBase64Encoded: JPEG.base64, mimeType: "image/jpeg" },
            },
            {
              referenceType: "REFERENCE_TYPE_MASK",
              referenceId: 2,
              referenceImage: { bytesBase64Encoded: PNG.base64, mimeType: "image/png" },
              maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED" },
            },
          ],
        },
      ],
      parameters: { sampleCount: 1, editConfig: { baseSteps: 35 }, editMode: "EDIT_MODE_INPAINT_INSERTION" },
    });
  });

  test("the kind of edit is the client's, or the default", () => {
    const editMode = (fields: Parameters<typeof imageCall>[0]) =>
      jsonOf(vertex.submit(imageCall({ inputs: [PNG], ...fields }), context(CAPABILITY)))["parameters"];
    expect(editMode({})).toMatchObject({ editMode: "EDIT_MODE_DEFAULT" });
    expect(editMode({ mask: PNG, editMode: "EDIT_MODE_OUTPAINT" })).toMatchObject({ editMode: "EDIT_MODE_OUTPAINT" });
  });

  test("a model that edits says that it needs an image", () => {
    expect([IMAGEN_4, CAPABILITY].map((model) => vertex.capabilities(model).imageOnly)).toEqual([undefined, true]);
  });
});

describe("providers 2.2: capabilities of Imagen", () => {
  test("both hosts generate, only Vertex edits, and neither serves other models", () => {
    expect([gemini, vertex].map((adapter) => adapter.serves(IMAGEN_4))).toEqual([true, true]);
    expect([gemini, vertex].map((adapter) => adapter.serves(CAPABILITY))).toEqual([false, true]);
    expect(vertex.serves("gemini-3-pro-image")).toBe(false);
  });

  test("contract 2.4: the Gemini API refuses what the newer host takes", () => {
    const options = ["negativePrompt", "seed", "watermark", "enhancePrompt"] as const;
    const taken = (adapter: typeof vertex) =>
      options.filter((option) => adapter.capabilities(IMAGEN_4).takes.includes(option));
    expect(taken(gemini)).toEqual([]);
    expect(taken(vertex)).toEqual([...options]);
  });

  test("four images, no inputs; levels since the fourth generation", () => {
    expect(vertex.capabilities(IMAGEN_4)).toMatchObject({ maxCount: 4, perCall: 4, maxInputs: 0, mask: false });
    expect(vertex.capabilities(IMAGEN_4).sizes).toMatchObject({ kind: "ratio", tiers: ["1K", "2K"] });
    expect(vertex.capabilities("imagen-3.0-generate-002").sizes).toMatchObject({ kind: "ratio", tiers: [] });
  });

  test("masks are white where clients' masks are transparent", () => {
    expect(vertex.capabilities(CAPABILITY)).toMatchObject({ maxInputs: 1, mask: true, maskForm: "white" });
  });
});

describe("contract 2.5: answers of Imagen", () => {
  test("images, with the prompt as it was enhanced", () => {
    const predictions = [
      { bytesBase64Encoded: PNG.base64, mimeType: "image/png", prompt: "a red fox in fog" },
      { bytesBase64Encoded: JPEG.base64 },
    ];
    expect(read({ predictions }, 2)).toEqual({
      state: "done",
      reply: {
        results: [
          { kind: "made", image: PNG, revisedPrompt: "a red fox in fog" },
          { kind: "made", image: JPEG },
        ],
        usage: { images: 2 },
      },
    });
  });

  test("a missing image was filtered, for the given reason or the default one", () => {
    const made = { bytesBase64Encoded: PNG.base64, mimeType: "image/png" };
    expect(resultsOf(read({ predictions: [made, { raiFilteredReason: "Code 58061214" }] }, 3))).toEqual([
      { kind: "made", image: PNG },
      { kind: "filtered", reason: "Code 58061214" },
      { kind: "filtered", reason: "Code 58061214" },
    ]);
    expect(read({}, 1)).toEqual({
      state: "done",
      reply: {
        results: [{ kind: "filtered", reason: "The provider's safety filter blocked this image." }],
        usage: { images: 0 },
      },
    });
  });

  test("a page instead of JSON is the provider's failure", () => {
    expect(thrownBy(() => read("<html>"))).toMatchObject({ kind: "upstream_failed" });
  });

  test.each([
    [400, { error: { code: 400, message: "aspectRatio is wrong", status: "INVALID_ARGUMENT" } }, "invalid_request"],
    [400, { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } }, "upstream_credentials"],
    [403, { error: { code: 403, message: "no", status: "PERMISSION_DENIED" } }, "upstream_credentials"],
    [404, { error: { code: 404, message: "no such model", status: "NOT_FOUND" } }, "not_found"],
    [429, { error: { code: 429, message: "slow down", status: "RESOURCE_EXHAUSTED" } }, "rate_limited"],
    [503, "<html>", "overloaded"],
  ])("HTTP %d %#", (status, body, kind) => {
    expect(vertex.error(mediaAnswer(body, status)).kind).toBe(kind as never);
  });
});

describe.skipIf(!recordingsThere)("recorded answers of Imagen", () => {
  const recorded = (file: string, count: number) =>
    resultsOf(vertex.readSubmit(recordedAnswer(`gemini-images/${file}`), imageCall({ count }), context(IMAGEN_4)));

  test("one image of each host", () => {
    const file = "vertex/js-genai.client-tests-generateimages-ve--images-with-specified-parameters.response.json";
    const [result, ...others] = recorded(file, 1) ?? [];
    expect(result).toMatchObject({ kind: "made", image: { mimeType: "image/jpeg" } });
    expect(result).toHaveProperty("revisedPrompt", expect.stringContaining("robot"));
    expect(others).toEqual([]);
    expect(recorded("google/weave.image-generation-async.response.json", 1)).toMatchObject([
      { kind: "made", image: { mimeType: "image/png" } },
    ]);
  });

  test("all filtered, and some", () => {
    const reason = expect.stringContaining("violated");
    expect(recorded("vertex/firebase-mock.unary-failure-generate-images-all-filtered.response.json", 2)).toEqual([
      { kind: "filtered", reason },
      { kind: "filtered", reason },
    ]);
    const some = recorded("vertex/firebase-mock.unary-failure-generate-images-gcs-some-filtered.response.json", 4);
    expect(some?.map(({ kind }) => kind)).toEqual(["failed", "failed", "filtered", "filtered"]);
  });

  test("a refused prompt", () => {
    const file = "gemini-images/vertex/firebase-mock.unary-failure-generate-images-prompt-blocked.response.json";
    const error = vertex.error(recordedAnswer(file, 400));
    expect(error.kind).toBe("content_blocked");
    expect(error.message).toContain("sensitive words");
  });
});
