import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import * as Genai2 from "@google/genai";
import * as Genai1 from "genai-1";
import { eventually } from "../../testing/eventually.ts";
import { type Json, present, requestOf } from "../../testing/recordings.ts";
import { keyOf, type MediaHarness, mediaCase, startMediaHarness } from "../support/recorded-media.ts";

/**
 * A recorded job: its submit, two polls that found it unfinished, its end, and the video from the URL in the last
 * response.
 */

const NAME = "ruby-llm.video-basic-functionality-gemi--erate-preview-can-animate-videos";
const UNFINISHED_LOOKS = 2;
const COST_NANO_USD = 4 * 50_000_000;

/** The beginning of a video, then the path that it was fetched from. */
const videoAt = (path: string) => Buffer.from(`\0\0\0\x18ftypmp42\0\0\0\0isommp42${path}`);
const VIDEO = videoAt("/v1beta/files/zqw12cp8qc38:download?alt=media");

let harness: MediaHarness;
let looks = 0;

beforeAll(async () => {
  harness = await startMediaHarness({
    choose: (found, method) => {
      if (found.recording.dialect !== "video") return undefined;
      if (method === "POST") return mediaCase(`${NAME}.t1`).recording;
      looks++;
      return mediaCase(`${NAME}.${looks > UNFINISHED_LOOKS ? "t6" : "t2"}`).recording;
    },
    kept: videoAt,
  });
});
afterAll(() => harness.stop());
beforeEach(() => {
  looks = 0;
  harness.upstream.seen.length = 0;
});

const model = () => `recorded/${mediaCase(`${NAME}.t1`).id}`;
const recordedRequest = () =>
  requestOf(mediaCase(`${NAME}.t1`).recording) as { instances: Json[]; parameters: { durationSeconds: number } };

async function download(url: string): Promise<Uint8Array> {
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toBe("video/mp4");
  return response.bytes();
}

/** What the host saw: the recorded requests, each with the credential, and nothing besides. */
function expectRecordedConversation(): void {
  const { id, recording } = mediaCase(`${NAME}.t1`);
  const { seen } = harness.upstream;
  const look = mediaCase(`${NAME}.t2`).recording.http;
  expect(seen.map(({ method, path }) => `${method} ${path.replace(`/${id}`, "")}`)).toEqual([
    recording.http,
    ...new Array<string>(UNFINISHED_LOOKS + 1).fill(look),
    "GET /kept/v1beta/files/zqw12cp8qc38:download?alt=media",
  ]);
  for (const { headers } of seen) expect(headers["x-goog-api-key"]).toBe(keyOf(id));
  expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject(recordedRequest());
}

const genaiSetup = () => ({
  vertexai: true,
  apiKey: harness.gateway.key,
  httpOptions: { baseUrl: `${harness.gateway.url}/api/genai`, apiVersion: "v1" },
});

const generateWith2 = async (prompt: string, durationSeconds: number) => {
  const { models, operations } = new Genai2.GoogleGenAI(genaiSetup());
  let operation = await models.generateVideos({ model: model(), prompt, config: { durationSeconds } });
  await eventually("the video", async () => {
    operation = await operations.getVideosOperation({ operation });
    return operation.done;
  });
  return operation;
};

const generateWith1 = async (prompt: string, durationSeconds: number) => {
  const { models, operations } = new Genai1.GoogleGenAI(genaiSetup());
  let operation = await models.generateVideos({ model: model(), prompt, config: { durationSeconds } });
  await eventually("the video", async () => {
    operation = await operations.getVideosOperation({ operation });
    return operation.done;
  });
  return operation;
};

describe.skipIf(!present)("contract 2.1, 2.2, 2.3: the recorded video", () => {
  test.each([
    ["genai 3", generateWith2],
    ["genai 1", generateWith1],
  ])("%s submits it, polls it to its end and downloads it", async (_name, generate) => {
    const { instances, parameters } = recordedRequest();
    const { error, response } = await generate(String(instances[0]?.["prompt"]), parameters.durationSeconds);
    expect(error).toBeUndefined();
    expect(response?.raiMediaFilteredCount).toBeUndefined();
    expect(response?.generatedVideos).toHaveLength(1);
    const { uri = "", mimeType } = response?.generatedVideos?.[0]?.video ?? {};
    expect(mimeType).toBe("video/mp4");
    expect(uri).toStartWith(harness.gateway.url);
    expect(Buffer.from(await download(uri))).toEqual(VIDEO);
    expectRecordedConversation();
  });

  test("the recorded request itself: its video in the response on request, its seconds and their price in the ledger", async () => {
    const { url, key } = harness.gateway;
    const endpoint = `${url}/api/genai/v1/publishers/${model().replace("/", "/models/")}`;
    const post = (verb: string, body: unknown) =>
      fetch(`${endpoint}:${verb}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "x-trivium-media": "inline",
          "idempotency-key": "the-recorded-request",
        },
        body: JSON.stringify(body),
      });
    const submitted = await post("predictLongRunning", recordedRequest());
    const { name } = (await submitted.json()) as { name: string };
    let operation: Json = {};
    await eventually("the video", async () => {
      operation = (await (await post("fetchPredictOperation", { operationName: name })).json()) as Json;
      return operation["done"];
    });
    expect(operation).toMatchObject({
      name,
      response: { videos: [{ bytesBase64Encoded: VIDEO.toString("base64"), mimeType: "video/mp4" }] },
    });
    expectRecordedConversation();
    const receipt = await harness.gateway.receipt(submitted);
    expect(receipt.usage).toMatchObject({ seconds: 4, images: null, output: null });
    expect(receipt).toMatchObject({ usage_source: "measured", cost_nano_usd: COST_NANO_USD });
  });
});
