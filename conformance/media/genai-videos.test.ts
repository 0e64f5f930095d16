import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GoogleGenAI as OlderGenAI } from "genai-1";
import { ApiError, GoogleGenAI, SegmentMode, VideoGenerationReferenceType } from "genai-2";
import { TEST_KEY } from "../../testing/test-key.ts";
import { probeVideo } from "./probe-video.ts";
import { followToEnd, idOf, KEYS, receiptOf, startVideoHarness, until, type VideoHarness } from "./video-harness.ts";

/** Google's SDK as its public API is called: with an API key, without a cloud project. */

let harness: VideoHarness;
const folder = mkdtempSync(join(tmpdir(), "trivium-videos-"));

beforeAll(async () => {
  harness = await startVideoHarness();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await harness.stop();
});

const connect = (apiKey = TEST_KEY) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: harness.gateway.url } });
const older = () =>
  new OlderGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: harness.gateway.url } }) as unknown as GoogleGenAI;

describe.each([
  ["@google/genai 2", () => connect()],
  ["@google/genai 1", older],
] as const)("decision 0100: %s with an API key", (generation, make) => {
  test.each(["sim/video", "openai/sora-2", "veo-3.1-generate-001", "klingai/kling-v3"])(
    "generates a video with %s and downloads it",
    async (model) => {
      const client = make();
      const submitted = await client.models.generateVideos({ model, source: { prompt: "a fox" } });
      const operation = await followToEnd(client, submitted);
      const [made] = operation.response?.generatedVideos ?? [];
      expect(made?.video?.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/files\/file[0-9a-f]{32}\?expires=/);
      expect(made?.video?.mimeType).toBe("video/mp4");
      if (made === undefined) throw new Error("no video was made");
      const path = join(folder, `${idOf(operation.name)}-${generation.slice(-1)}.mp4`);
      await client.files.download({ file: made, downloadPath: path });
      const { size } = harness.database
        .query("SELECT size FROM files WHERE owner_id = ?")
        .get(idOf(operation.name)) as {
        size: number;
      };
      // The older generation does not wait until the file is written.
      await until(() => existsSync(path) && statSync(path).size === size, "the download");
      const { seconds } = probeVideo(readFileSync(path));
      expect(await receiptOf(harness, operation.name)).toMatchObject({ usage: { seconds: Math.round(seconds) } });
    },
  );
});

test("decision 0100: the SDK downloads by the name in an https URL", async () => {
  const client = connect();
  const operation = await followToEnd(
    client,
    await client.models.generateVideos({ model: "sim/video", source: { prompt: "a fox" } }),
  );
  const uri = (operation.response?.generatedVideos?.[0]?.video?.uri ?? "").replace("http:", "https:");
  const path = join(folder, "https.mp4");
  await client.files.download({ file: { uri, mimeType: "video/mp4" }, downloadPath: path });
  expect(probeVideo(readFileSync(path)).seconds).toBeGreaterThan(1);
  const stranger = connect(KEYS.stranger);
  const name = /file[0-9a-f]{32}/.exec(uri)?.[0] ?? "";
  expect(
    await fetch(`${harness.gateway.url}/v1beta/files/${name}:download?alt=media`, {
      headers: { "x-goog-api-key": KEYS.stranger },
    }).then(async (response) => [response.status, await response.json()]),
  ).toEqual([404, { error: expect.objectContaining({ code: 404, status: "NOT_FOUND" }) }]);
  const refused = await stranger.operations.getVideosOperation({ operation }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect((refused as ApiError).status).toBe(404);
});

test("contract 7: a blocked video is reported with its reasons", async () => {
  const client = connect();
  const operation = await followToEnd(
    client,
    await client.models.generateVideos({ model: "sim/video", source: { prompt: "sim:moderated" } }),
  );
  expect(operation.response?.raiMediaFilteredCount).toBe(1);
  expect(operation.response?.raiMediaFilteredReasons).toHaveLength(1);
});

const refusalOf = async (attempt: Promise<unknown>) => {
  const thrown: unknown = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw new Error("the SDK reported no error of the API");
  const { error } = JSON.parse(thrown.message) as {
    error: { details: { fieldViolations: { field: string }[] }[] };
  };
  return [thrown.status, error.details[0]?.fieldViolations[0]?.field];
};

describe("contract 8: another task of the same method is refused, because its result would be something else", () => {
  const image = { imageBytes: "iVBORw0KGgo=", mimeType: "image/png" };
  const cloud = () =>
    new GoogleGenAI({
      vertexai: true,
      apiKey: TEST_KEY,
      httpOptions: { baseUrl: `${harness.gateway.url}/api/genai`, apiVersion: "v1" },
    });

  test("videos from a video, or from reference images", async () => {
    const { models } = connect();
    const model = "veo-3.1-generate-001";
    const video = { uri: "https://gateway.example/files/abc" };
    expect(await refusalOf(models.generateVideos({ model, source: { prompt: "it flies away", video } }))).toEqual([
      400,
      "instances[0].video",
    ]);
    const config = { referenceImages: [{ image, referenceType: VideoGenerationReferenceType.ASSET }] };
    expect(await refusalOf(models.generateVideos({ model, source: { prompt: "a fox" }, config }))).toEqual([
      400,
      "instances[0].referenceImages",
    ]);
  });

  test("upscaled, recontextualised and segmented images", async () => {
    const { models } = cloud();
    const model = "sim/image";
    expect(await refusalOf(models.upscaleImage({ model, image, upscaleFactor: "x2" }))).toEqual([
      400,
      "parameters.upscaleConfig",
    ]);
    const product = { prompt: "on a table", productImages: [{ productImage: image }] };
    expect(await refusalOf(models.recontextImage({ model, source: product }))).toEqual([
      400,
      "instances[0].productImages",
    ]);
    const config = { mode: SegmentMode.FOREGROUND };
    expect(await refusalOf(models.segmentImage({ model, source: { image }, config }))).toEqual([
      400,
      "parameters.mode",
    ]);
  });
});
