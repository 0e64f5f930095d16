import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI as GoogleGenAIEarlier } from "genai-1";
import { type GenerateContentResponse, GoogleGenAI, RawReferenceImage } from "genai-2";
import { type HostReply, MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { Json, JsonObject } from "../../json.ts";
import { videoFacts } from "../../media/video-facts.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { sniffImage } from "../../sniff-image.ts";
import { geminiMedia, vertexMedia } from "./media.ts";

const KEY = { "x-goog-api-key": "any-key" };
const GEMINI = "/gemini/v1beta/models";
const VERTEX = "/vertex/v1/projects/p/locations/us-central1/publishers/google/models";
const IMAGEN = "imagen-4.0-generate-001";
const VEO = "veo-3.1-generate-001";
const CAPABILITY = "imagen-3.0-capability-001";

const gemini = new MediaHostHarness(geminiMedia);
const vertex = new MediaHostHarness(vertexMedia);
let png: string;
let narrow: string;

beforeAll(async () => {
  const draw = async (width: number): Promise<string> =>
    Buffer.from(await drawImage({ prompt: "given", width, height: 96, seed: 1, format: "png" })).toString("base64");
  png = await draw(128);
  narrow = await draw(64);
});

const call = (path: string, body: JsonObject, headers: Record<string, string> = KEY): Promise<HostReply> =>
  (path.startsWith("/gemini") ? gemini : vertex).send(path, { headers, body });
const imagen = (prompt: string, parameters: JsonObject = {}, root = VERTEX): Promise<HostReply> =>
  call(`${root}/${IMAGEN}:predict`, { instances: [{ prompt }], parameters });
const draws = (text: string, generationConfig: JsonObject = {}, model = "gemini-3.1-flash-image", root = GEMINI) =>
  call(`${root}/${model}:generateContent`, { contents: [{ role: "user", parts: [{ text }] }], generationConfig });
const veo = (instance: JsonObject, parameters: JsonObject = {}, root = VERTEX, model = VEO): Promise<HostReply> =>
  call(`${root}/${model}:predictLongRunning`, { instances: [instance], parameters });
const edit = (references: Json[], parameters: JsonObject = {}, model = CAPABILITY, root = VERTEX): Promise<HostReply> =>
  call(`${root}/${model}:predict`, { instances: [{ prompt: "a hat", referenceImages: references }], parameters });

interface Predictions {
  predictions?: { bytesBase64Encoded?: string; mimeType?: string; raiFilteredReason?: string; contentType?: string }[];
}
const predictionsOf = (reply: HostReply) => (reply.body as unknown as Predictions).predictions ?? [];
const seen = (base64: string | undefined) => sniffImage(new Uint8Array(Buffer.from(base64 ?? "", "base64")));
const errorOf = (reply: HostReply) => reply.body.error as { code: number; message: string; status: string };
const candidateOf = (reply: HostReply) => (reply.body as unknown as GenerateContentResponse).candidates?.[0];

describe("contract 2.4: images of Imagen", () => {
  test("an image has the ratio, size and type that were asked for, on both hosts", async () => {
    const asked = { aspectRatio: "16:9", outputOptions: { mimeType: "image/jpeg", compressionQuality: 60 } };
    for (const root of [GEMINI, VERTEX]) {
      const reply = await imagen("a lighthouse", asked, root);
      expect(seen(predictionsOf(reply)[0]?.bytesBase64Encoded)).toEqual({
        mimeType: "image/jpeg",
        size: { width: 1408, height: 768 },
      });
    }
    const large = await imagen("a lighthouse", { sampleImageSize: "2K", sampleCount: 2 });
    expect(predictionsOf(large)).toHaveLength(2);
    expect(seen(predictionsOf(large)[1]?.bytesBase64Encoded)?.size).toEqual({ width: 2048, height: 2048 });
    expect(predictionsOf(large)[0]?.bytesBase64Encoded).not.toBe(predictionsOf(large)[1]?.bytesBase64Encoded);
  });

  test("safety attributes come with an item for the prompt, and a bucket gets the image instead", async () => {
    const reply = await imagen("a lighthouse", { includeSafetyAttributes: true, storageUri: "gs://mine/" });
    expect(reply.body.predictions).toMatchObject([
      { gcsUri: expect.stringMatching(/^gs:\/\/mine\/[\w-]+\/sample_0\.png$/), safetyAttributes: { scores: [0, 0] } },
      { contentType: "Positive Prompt" },
    ]);
  });

  test.each([
    ["an unknown parameter", { size: "1024x1024" }, "size"],
    ["a count out of range", { sampleCount: 5 }, "sample_count"],
    ["a count that is no number", { sampleCount: "2" }, "sample_count"],
    ["an unknown ratio", { aspectRatio: "21:9" }, "aspect_ratio"],
    ["a seed with a watermark", { seed: 7 }, "addWatermark"],
    ["an unknown type", { outputOptions: { mimeType: "image/gif" } }, "mime_type"],
    ["an unknown level of safety", { safetySetting: "none" }, "safety_setting"],
    ["an invalid bucket", { storageUri: "https://example.org" }, "storage_uri"],
  ])("refuses %s", async (_, parameters, named) => {
    const reply = await imagen("a lighthouse", parameters);
    expect(reply.status).toBe(400);
    expect(errorOf(reply).status).toBe("INVALID_ARGUMENT");
    expect(errorOf(reply).message).toContain(named);
  });

  test("takes a seed without a watermark, and levels in capitals as the SDK writes them", async () => {
    const parameters = {
      seed: 7,
      addWatermark: false,
      safetySetting: "BLOCK_ONLY_HIGH",
      personGeneration: "ALLOW_ALL",
    };
    expect((await imagen("a lighthouse", parameters)).status).toBe(200);
  });

  test("edits with a raw image and a mask, and the result has the image's size", async () => {
    const raw = { referenceType: "REFERENCE_TYPE_RAW", referenceId: 1, referenceImage: { bytesBase64Encoded: png } };
    const mask = {
      referenceType: "REFERENCE_TYPE_MASK",
      referenceId: 2,
      referenceImage: { bytesBase64Encoded: png, mimeType: "image/png" },
      maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED", dilation: 0.01 },
    };
    const parameters = { editMode: "EDIT_MODE_INPAINT_INSERTION", editConfig: { baseSteps: 35 } };
    const reply = await edit([raw, mask], parameters);
    expect(seen(predictionsOf(reply)[0]?.bytesBase64Encoded)?.size).toEqual({ width: 128, height: 96 });
    const smaller = { ...mask, referenceImage: { bytesBase64Encoded: narrow } };
    expect(errorOf(await edit([raw, smaller], parameters)).message).toContain("64x96");
    expect(errorOf(await edit([mask], parameters)).message).toContain("REFERENCE_TYPE_RAW");
    const text = { bytesBase64Encoded: Buffer.from("no image").toString("base64") };
    expect(errorOf(await edit([{ ...raw, referenceImage: text }])).message).toContain("not valid");
    expect(errorOf(await edit([raw], {}, IMAGEN)).message).toContain("referenceImages");
    expect(errorOf(await edit([raw], { editMode: "EDIT_MODE_PAINT" })).message).toContain("edit_mode");
    expect(errorOf(await edit([raw], {}, CAPABILITY, VERTEX.replace("us-central1", "global"))).message).toContain(
      "global",
    );
    expect(errorOf(await edit([raw], { sampleImageSize: "2K" })).message).toContain("sampleImageSize");
  });

  test("held-back images are missing, with a reason when the request asks for it", async () => {
    const some = await imagen("sim:one-fails", { sampleCount: 3, includeRaiReason: true });
    expect(predictionsOf(some).map((one) => one.raiFilteredReason === undefined)).toEqual([true, true, false]);
    expect(predictionsOf(await imagen("sim:one-fails", { sampleCount: 3 }))).toHaveLength(2);
    expect((await imagen("sim:moderated", { sampleCount: 2 })).body).toEqual({});
    const reported = await imagen("sim:moderated", { sampleCount: 2, includeRaiReason: true });
    expect(reported.body.predictions).toEqual([{ raiFilteredReason: expect.stringContaining("filtered") }]);
  });

  test.each([
    ["blocked", 400],
    ["busy", 429],
    ["broken", 500],
    ["overloaded", 503],
    ["fails", 500],
  ])("sim:%s is HTTP %i", async (outcome, status) => {
    const reply = await imagen(`a cat sim:${outcome}`);
    expect(reply.status).toBe(status);
    expect(errorOf(reply).code).toBe(status);
  });

  test("sim:garbage is a page, and what has no link or job cannot expire or be forgotten", async () => {
    expect((await imagen("sim:garbage")).text).toStartWith("<html>");
    for (const outcome of ["expired", "forgotten"])
      expect(predictionsOf(await imagen(`sim:${outcome}`))).toHaveLength(1);
  });
});

describe("contract 2.6: images of Gemini's own models", () => {
  test("an image with its signature and usage, in the ratio and size asked for", async () => {
    const reply = await draws("a fox", {
      responseModalities: ["IMAGE"],
      imageConfig: { aspectRatio: "9:16", imageSize: "2K" },
    });
    const [part, ...more] = candidateOf(reply)?.content?.parts ?? [];
    expect(more).toEqual([]);
    expect(seen(part?.inlineData?.data)?.size).toEqual({ width: 1536, height: 2688 });
    expect(part?.thoughtSignature).toBeString();
    expect(candidateOf(reply)?.finishReason as string).toBe("STOP");
    expect(reply.body.usageMetadata).toMatchObject({
      candidatesTokenCount: 1120,
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1120 }],
    });
  });

  test("an edit keeps the ratio of its input image, and the returned signature is valid", async () => {
    const first = candidateOf(await draws("a fox", { responseModalities: ["IMAGE"] }))
      ?.content as unknown as JsonObject;
    const given = { inlineData: { mimeType: "image/png", data: narrow } };
    const ask = (model: Json): Promise<HostReply> =>
      call(`${GEMINI}/gemini-3-pro-image:generateContent`, {
        contents: [
          { role: "user", parts: [{ text: "a fox" }] },
          model,
          { role: "user", parts: [{ text: "more like this" }, given] },
        ],
      });
    const parts = candidateOf(await ask(first))?.content?.parts ?? [];
    expect(parts[0]?.text).toBeString();
    expect(seen(parts[1]?.inlineData?.data)?.size).toEqual({ width: 832, height: 1248 });
    const [part] = first.parts as JsonObject[];
    const forged = { role: "model", parts: [{ ...part, thoughtSignature: Buffer.alloc(40).toString("base64") }] };
    expect(errorOf(await ask(forged)).message).toContain("signature");
  });

  test("streams chunks whose usage grows, as events or as one array", async () => {
    const path = `${VERTEX}/gemini-3-pro-image:streamGenerateContent`;
    const body = { contents: [{ parts: [{ text: "a fox" }] }] };
    const events = (await call(`${path}?alt=sse`, body)).text.split("\r\n\r\n").filter((event) => event !== "");
    const chunks = events.map((event) => JSON.parse(event.replace("data: ", "")) as GenerateContentResponse);
    expect(chunks.map((chunk) => Object.keys(chunk.candidates?.[0]?.content?.parts?.[0] ?? {})[0])).toEqual([
      "text",
      "inlineData",
      undefined,
    ]);
    expect(chunks.map((chunk) => chunk.candidates?.[0]?.finishReason as string)).toEqual([
      undefined,
      undefined,
      "STOP",
    ] as string[]);
    const counts = chunks.map((chunk) => chunk.usageMetadata?.candidatesTokenCount ?? 0);
    expect(counts[1]).toBeGreaterThan(counts[0] ?? 0);
    const array = JSON.parse((await call(path, body)).text) as unknown[];
    expect(array).toHaveLength(3);
    const refused = JSON.parse((await call(path, { ...body, size: "1K" })).text) as [{ error: { code: number } }];
    expect(refused[0].error.code).toBe(400);
  });

  test("the earlier generation draws without thoughts and refuses sizes", async () => {
    const reply = await draws("a fox", {}, "gemini-2.5-flash-image");
    const parts = candidateOf(reply)?.content?.parts ?? [];
    expect(parts.at(-1)?.inlineData?.mimeType).toBe("image/png");
    expect(parts.some((part) => part.thoughtSignature !== undefined)).toBe(false);
    const refused = await draws("a fox", { imageConfig: { imageSize: "2K" } }, "gemini-2.5-flash-image");
    expect(errorOf(refused).message).toContain("imageSize");
  });

  test.each([
    ["another modality", { responseModalities: ["AUDIO"] }, "AUDIO"],
    ["several candidates", { candidateCount: 2 }, "candidates"],
    ["an unknown ratio", { imageConfig: { aspectRatio: "1:9" } }, "aspect_ratio"],
    ["what only Vertex has", { imageConfig: { outputMimeType: "image/jpeg" } }, "outputMimeType"],
    ["a level with a budget", { thinkingConfig: { thinkingLevel: "LOW", thinkingBudget: 5 } }, "together"],
  ])("refuses %s", async (_, config, named) => {
    const reply = await draws("a fox", config);
    expect(reply.status).toBe(400);
    expect(errorOf(reply).message).toContain(named);
  });

  test("Vertex returns other types, and bytes that are not an image are rejected", async () => {
    const jpeg = await draws(
      "a fox",
      { imageConfig: { imageOutputOptions: { mimeType: "image/jpeg" } } },
      undefined,
      VERTEX,
    );
    expect(seen(candidateOf(jpeg)?.content?.parts?.at(-1)?.inlineData?.data)?.mimeType).toBe("image/jpeg");
    const inlineData = { mimeType: "image/png", data: Buffer.from("no image").toString("base64") };
    const path = `${GEMINI}/standard-image:generateContent`;
    const reply = await call(path, { contents: [{ parts: [{ text: "a fox" }, { inlineData }] }] });
    expect(errorOf(reply).message).toContain("not valid image/png");
  });

  test("outcomes: blocked prompts and images are not errors in this protocol", async () => {
    expect((await draws("sim:blocked")).body).toMatchObject({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } });
    expect(candidateOf(await draws("sim:moderated"))).toMatchObject({ finishReason: "IMAGE_SAFETY" });
    expect(candidateOf(await draws("sim:fails"))).toMatchObject({ finishReason: "IMAGE_OTHER" });
    const pair = [await draws("sim:one-fails"), await draws("sim:one-fails")];
    expect(pair.map((reply) => String(candidateOf(reply)?.finishReason)).sort()).toEqual(["IMAGE_SAFETY", "STOP"]);
    const at = async (outcome: string): Promise<number> => (await draws(`sim:${outcome}`)).status;
    expect([await at("busy"), await at("broken"), await at("overloaded")]).toEqual([429, 500, 503]);
    expect((await draws("sim:garbage")).text).toStartWith("<html>");
  });

  test("names of text models and other URLs are left to the other host", async () => {
    const body = { contents: [{ parts: [{ text: "hi" }] }] };
    for (const name of ["standard:generateContent", "gemini-3-pro:streamGenerateContent", "x-image:countTokens"]) {
      expect(await gemini.answerTo(`${GEMINI}/${name}`, { headers: KEY, body })).toBeUndefined();
    }
    expect(await gemini.answerTo(GEMINI, { headers: KEY })).toBeUndefined();
    expect(await vertex.answerTo("/vertex/token", { body })).toBeUndefined();
  });
});

describe("contract 2.1 to 2.3: videos of Veo", () => {
  test("on Vertex an operation is fetched by its name, and ends with the video inside", async () => {
    const image = { bytesBase64Encoded: png, mimeType: "image/png" };
    const started = await veo(
      { prompt: "a wave", image },
      { durationSeconds: 4, aspectRatio: "9:16", generateAudio: false },
    );
    const operationName = String(started.body.name);
    expect(operationName).toMatch(
      /^projects\/p\/locations\/us-central1\/publishers\/google\/models\/veo-[^/]+\/operations\/[\w-]+$/,
    );
    const poll = (headers = KEY): Promise<HostReply> =>
      call(`${VERTEX}/${VEO}:fetchPredictOperation`, { operationName }, headers);
    expect((await poll()).body).toEqual({ name: operationName });
    expect((await poll({ "x-goog-api-key": "another" })).status).toBe(404);
    vertex.nowMs += 20;
    const { response } = (await poll()).body as {
      response: { videos: { bytesBase64Encoded: string; mimeType: string }[] };
    };
    expect(response.videos[0]?.mimeType).toBe("video/mp4");
    const video = Buffer.from(response.videos[0]?.bytesBase64Encoded ?? "", "base64");
    expect(videoFacts(video)).toEqual({ width: 720, height: 1280, seconds: 4, audio: false });
  });

  test("on Gemini the file requires the key, and redirects to a URL that does not", async () => {
    const started = await veo({ prompt: "a wave" }, { durationSeconds: 4 }, GEMINI);
    const name = String(started.body.name);
    expect(name).toMatch(/^models\/veo-[^/]+\/operations\/[a-z0-9]{12}$/);
    const poll = (): Promise<HostReply> => gemini.send(`/gemini/v1beta/${name}`, { headers: KEY });
    expect((await poll()).body).toEqual({ name });
    gemini.nowMs += 20;
    const done = (await poll()).body as {
      response: { generateVideoResponse: { generatedSamples: { video: { uri: string } }[] } };
    };
    const uri = done.response.generateVideoResponse.generatedSamples[0]?.video.uri ?? "";
    expect(uri).toContain(":download?alt=media");
    expect((await gemini.send(uri, { headers: {} })).status).toBe(403);
    expect((await gemini.send(uri, { headers: { "x-goog-api-key": "another" } })).status).toBe(403);
    const sent = await gemini.send(uri, { headers: KEY });
    expect(sent.status).toBe(302);
    const location = sent.headers.get("location") ?? "";
    for (const headers of [KEY, {}]) {
      const video = await gemini.answerTo(location, { headers });
      expect(video?.headers.get("content-type")).toBe("video/mp4");
      expect(videoFacts(new Uint8Array(await (video as Response).arrayBuffer()))).toMatchObject({
        width: 1280,
        seconds: 4,
        audio: true,
      });
    }
    gemini.nowMs += 3_600_000;
    expect((await gemini.answerTo(location, {}))?.status).toBe(403);
  });

  async function ended(prompt: string, root: string, parameters: JsonObject = {}): Promise<HostReply> {
    const { body } = await veo({ prompt }, parameters, root);
    const operationName = String(body.name);
    (root === GEMINI ? gemini : vertex).nowMs += 20;
    if (root === GEMINI) return gemini.send(`/gemini/v1beta/${operationName}`, { headers: KEY });
    return call(`${VERTEX}/${VEO}:fetchPredictOperation`, { operationName });
  }

  test("outcomes that show when the operation has ended", async () => {
    const reasons = { raiMediaFilteredCount: 2, raiMediaFilteredReasons: [expect.any(String)] };
    const held = await ended("sim:moderated", VERTEX, { sampleCount: 2 });
    expect(held.body).toMatchObject({ done: true, response: reasons });
    expect(held.body.response).not.toHaveProperty("videos");
    expect((await ended("sim:moderated", GEMINI, { sampleCount: 2 })).body.response).toMatchObject({
      generateVideoResponse: reasons,
    });
    const some = await ended("sim:one-fails", VERTEX, { sampleCount: 3, storageUri: "gs://mine" });
    expect(some.body.response).toMatchObject({ raiMediaFilteredCount: 1 });
    expect((some.body.response as { videos: unknown[] }).videos).toHaveLength(2);
    for (const root of [GEMINI, VERTEX]) {
      expect((await ended("sim:fails", root)).body).toMatchObject({ done: true, error: { code: 13 } });
      expect((await ended("sim:forgotten", root)).status).toBe(404);
      expect((await ended("sim:slow", root)).body).not.toHaveProperty("done");
    }
    const expired = JSON.stringify((await ended("sim:expired", GEMINI)).body);
    const uri = /"uri":"([^"]+)"/.exec(expired)?.[1] ?? "";
    const { headers } = await gemini.send(uri, { headers: KEY });
    expect((await gemini.answerTo(headers.get("location") ?? "", {}))?.status).toBe(403);
  });

  test("immediate outcomes", async () => {
    const at = async (outcome: string): Promise<number> => (await veo({ prompt: `sim:${outcome}` })).status;
    expect([await at("blocked"), await at("busy"), await at("broken"), await at("overloaded")]).toEqual([
      400, 429, 500, 503,
    ]);
    expect((await veo({ prompt: "sim:garbage" })).text).toStartWith("<html>");
  });

  test.each([
    ["no prompt", {}, {}, VERTEX, "prompt"],
    ["5 seconds of the third generation", { prompt: "a" }, { durationSeconds: 5 }, VERTEX, "duration_seconds"],
    ["6 seconds in 1080p", { prompt: "a" }, { durationSeconds: 6, resolution: "1080p" }, VERTEX, "must be 8"],
    ["another ratio", { prompt: "a" }, { aspectRatio: "1:1" }, VERTEX, "aspect_ratio"],
    ["another resolution", { prompt: "a" }, { resolution: "480p" }, VERTEX, "resolution"],
    ["five videos", { prompt: "a" }, { sampleCount: 5 }, VERTEX, "sample_count"],
    ["an unknown parameter", { prompt: "a" }, { watermark: true }, VERTEX, "watermark"],
    ["sound as a choice on Gemini", { prompt: "a" }, { generateAudio: true }, GEMINI, "generateAudio"],
    ["a seed on Gemini", { prompt: "a" }, { seed: 1 }, GEMINI, "seed"],
    ["a bucket on Gemini", { prompt: "a", image: { gcsUri: "gs://a/b.png" } }, {}, GEMINI, "gcsUri"],
    ["an invalid image", { prompt: "a", image: { bytesBase64Encoded: "bm9uZQ==" } }, {}, VERTEX, "not valid"],
  ])("refuses %s", async (_, instance, parameters, root, named) => {
    const reply = await veo(instance, parameters, root);
    expect(reply.status).toBe(400);
    expect(errorOf(reply).message).toContain(named);
  });

  test("the second generation makes 5 seconds, and a wrong name of an operation is refused", async () => {
    expect((await veo({ prompt: "a" }, { durationSeconds: 5 }, VERTEX, "veo-2.0-generate-001")).status).toBe(200);
    const body = { operationName: "operations/1" };
    expect((await call(`${VERTEX}/${VEO}:fetchPredictOperation`, body)).status).toBe(400);
  });
});

test("contract 5: keys, tokens, unknown models and content types are checked as the hosts do", async () => {
  const body = { instances: [{ prompt: "a" }] };
  const paths = { gemini: `${GEMINI}/standard:predict`, vertex: `${VERTEX}/standard:predict` };
  const status = async (path: string, headers: Record<string, string>): Promise<number> =>
    (await call(path, body, headers)).status;
  expect(await status(paths.gemini, {})).toBe(403);
  expect(await status(paths.gemini, { "x-goog-api-key": "wrong" })).toBe(400);
  expect(await status(paths.gemini, { authorization: "Bearer any-key" })).toBe(200);
  expect(await status(paths.vertex, {})).toBe(401);
  expect(await status(paths.vertex, { authorization: "Bearer any-key" })).toBe(401);
  expect(await status(paths.vertex, { authorization: "Bearer ya29.simulated-token" })).toBe(200);
  expect(await status(paths.gemini, { ...KEY, "content-type": "text/plain" })).toBe(400);
  for (const verb of ["predict", "predictLongRunning"]) expect(await status(`${GEMINI}/other:${verb}`, KEY)).toBe(404);
  expect(await status(`${VERTEX}/other-image:generateContent`, KEY)).toBe(404);
});

test("H24: an operation of a project outlives the token that began it", async () => {
  const token = (name: string) => ({ authorization: `Bearer ya29.simulated-${name}` });
  const started = await call(`${VERTEX}/${VEO}:predictLongRunning`, { instances: [{ prompt: "a" }] }, token("first"));
  const poll = { operationName: String(started.body.name) };
  expect((await call(`${VERTEX}/${VEO}:fetchPredictOperation`, poll, token("second"))).status).toBe(200);
});

describe("the vendor's SDK understands the answers", () => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "POST" ? ((await request.json()) as Json) : undefined;
      const harness = pathname.startsWith("/gemini") ? gemini : vertex;
      const sending = {
        method: request.method,
        headers: Object.fromEntries(request.headers),
        ...(body === undefined ? {} : { body }),
      };
      return (await harness.answerTo(`${pathname}${search}`, sending)) ?? new Response(null, { status: 404 });
    },
  });
  afterAll(() => server.stop(true));
  const client = (host: string) =>
    new GoogleGenAI({
      apiKey: "any-key",
      vertexai: host === "vertex",
      httpOptions: {
        baseUrl: `http://127.0.0.1:${server.port}/${host}`,
        apiVersion: host === "vertex" ? "v1" : "v1beta",
      },
    });

  test("images, edits and videos", async () => {
    const earlier = new GoogleGenAIEarlier({
      apiKey: "any-key",
      httpOptions: { baseUrl: `http://127.0.0.1:${server.port}/gemini` },
    });
    for (const host of ["gemini", "vertex"]) {
      const { models, operations } = client(host);
      // The current SDK asks for Imagen on Vertex only; the one before does on both.
      const painter = host === "vertex" ? models : earlier.models;
      const asked = { model: IMAGEN, prompt: "a", config: { numberOfImages: 2 } };
      const { generatedImages } = await painter.generateImages(asked);
      const types = generatedImages?.map(({ image }) => seen(image?.imageBytes)?.mimeType);
      expect(types).toEqual(["image/png", "image/png"]);
      let operation = await models.generateVideos({ model: VEO, prompt: "a", config: { durationSeconds: 4 } });
      expect(operation.done).toBeFalsy();
      (host === "gemini" ? gemini : vertex).nowMs += 20;
      operation = await operations.getVideosOperation({ operation });
      const video = operation.response?.generatedVideos?.[0]?.video;
      expect(video?.uri ?? video?.videoBytes).toBeString();
    }
    const raw = new RawReferenceImage();
    raw.referenceImage = { imageBytes: png, mimeType: "image/png" };
    raw.referenceId = 1;
    const edited = await client("vertex").models.editImage({ model: CAPABILITY, prompt: "a", referenceImages: [raw] });
    expect(seen(edited.generatedImages?.[0]?.image?.imageBytes)?.size).toEqual({ width: 128, height: 96 });
  });
});
