import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../../testing/harness.ts";
import type { Script } from "../../../testing/memory-network.ts";
import { MemoryVideos, VIDEO_CONFIG } from "../../../testing/memory-videos.ts";
import type { SentCall } from "../../../testing/sent-call.ts";
import { plainPng } from "../../media/images.sample.ts";

const KEY = "a-key-whose-bodies-are-kept";
const KEYS = [{ name: "captured", key: KEY, capture: true }];
const PNG = plainPng(64, 64).base64;
const PNG_BYTES = Buffer.from(PNG, "base64");
/** It begins as an MP3 does. */
const SOUND = Buffer.concat([Buffer.from("ID3"), Buffer.alloc(300, 7)]);

const model = (id: string, output: string, provider: string, upstream: string) => ({
  id,
  input_modalities: ["text", "image"],
  output_modalities: [output],
  offers: [{ provider, model: upstream }],
});
const config = {
  providers: {
    openai: { kind: "openai", base_url: `${UPSTREAM_URL}/v1`, api_key: "secret-of-the-host" },
    flux: { kind: "black-forest-labs", base_url: `${UPSTREAM_URL}/flux/v1`, api_key: "secret-of-the-host" },
  },
  models: [
    model("test/painter", "image", "openai", "gpt-image-1"),
    model("test/flux", "image", "flux", "flux-2-pro"),
    model("test/voice", "audio", "openai", "tts-1"),
    model("test/ear", "transcription", "openai", "whisper-1"),
  ],
  keys: KEYS,
  capture: { max_media_kb: 64 },
};

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config });
});
afterAll(() => harness.storage.close());

async function bodiesOf(sent: SentCall, at = harness) {
  const answer = await at.clock.until(sent.answer);
  expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
  await at.clock.pass(6_000);
  await at.clock.until(at.gateway.captures.close());
  const found = await at.gateway.captures.read(answer.headers.get("x-trivium-receipt") ?? "");
  if (found === undefined) throw new Error("no bodies are kept");
  const { client_request, provider_request, provider_answer, client_answer, media = [] } = found.bodies;
  const texts = [client_request, provider_request, provider_answer, client_answer].map((body) => body?.text ?? "");
  for (const text of texts)
    expect([text.includes(PNG.slice(0, 40)), text.includes("secret-of")]).toEqual([false, false]);
  return { answer, texts, media };
}

const post = (path: string, body: object) => harness.sendPost(path, body, KEY);
const form = (path: string, fields: Record<string, string>, name: string, file: File) => {
  const body = new FormData();
  for (const [field, value] of Object.entries(fields)) body.append(field, value);
  body.append(name, file);
  return harness.sendRaw(path, body, { authorization: `Bearer ${KEY}` });
};
const sounds = (...parts: Uint8Array[]): Script => {
  return (reply) => {
    reply.head(200, { "content-type": "audio/mpeg" });
    for (const part of parts) void reply.write(part);
    reply.end();
  };
};
const painted = { created: 1, data: [{ b64_json: PNG }] };
const IMAGE = `[image/png, ${PNG_BYTES.length} bytes, medium 1]`;

describe("decision 0074: bodies of images", () => {
  test("generations: the four texts, and the image once for both sides", async () => {
    harness.upstream.play(harness.upstream.json(painted));
    const body = { model: "test/painter", prompt: "a fox" };
    const { texts, media } = await bodiesOf(post("/v1/images/generations", body));
    expect(texts[0]).toBe(JSON.stringify(body));
    expect(JSON.parse(texts[1] ?? "")).toMatchObject({ model: "gpt-image-1", prompt: "a fox" });
    expect(texts.slice(2).map((text) => text.includes(IMAGE))).toEqual([true, true]);
    expect(media).toEqual([{ type: "image/png", bytes: PNG_BYTES.length, data: PNG }]);
  });

  test("a form: its fields as JSON, and the files that went on as media", async () => {
    harness.upstream.play(harness.upstream.json(painted));
    const file = new File([PNG_BYTES], "fox.png", { type: "image/png" });
    const fields = { model: "test/painter", prompt: "a fox" };
    const { texts, media } = await bodiesOf(form("/v1/images/edits", fields, "image", file));
    const told = JSON.stringify(`[image/png, ${PNG_BYTES.length} bytes]`);
    expect(texts[0]).toBe(`[{"model":"test/painter"},{"prompt":"a fox"},{"image":${told}}]`);
    expect(texts[1]).toContain('{"prompt":"a fox"}');
    expect(texts[1]).toContain(IMAGE);
    expect(media).toHaveLength(1);
  });

  test("a stream: the events of both sides", async () => {
    const event = `data: ${JSON.stringify({ type: "image_generation.completed", b64_json: PNG })}\n\n`;
    harness.upstream.play(harness.upstream.stream(event));
    const body = { model: "test/painter", prompt: "a fox", stream: true };
    const { texts } = await bodiesOf(post("/v1/images/generations", body));
    expect(texts.slice(2).map((text) => text.includes("image_generation.completed"))).toEqual([true, true]);
    expect(texts.slice(2).map((text) => text.includes(IMAGE))).toEqual([true, true]);
  });

  test("a polled job: the submitted request and the last response", async () => {
    const result = "https://results.test/fox.png";
    harness.web.files.set(result, { bytes: PNG_BYTES, mimeType: "image/png" });
    const { upstream } = harness;
    upstream.play(
      upstream.json({ id: "job-1", polling_url: `${UPSTREAM_URL}/flux/v1/get_result?id=job-1` }),
      upstream.json({ id: "job-1", status: "Pending" }),
      upstream.json({ id: "job-1", status: "Ready", result: { sample: result } }),
    );
    const { texts } = await bodiesOf(post("/v1/images/generations", { model: "test/flux", prompt: "a fox" }));
    expect(texts[1]).toContain("a fox");
    expect(JSON.parse(texts[2] ?? "")).toMatchObject({ status: "Ready" });
    expect(texts[2]).not.toContain("Pending");
  });

  test("in a conversation: the provider's side as well", async () => {
    harness.upstream.play(harness.upstream.json(painted));
    const body = { model: "test/painter", modalities: ["image"], messages: [{ role: "user", content: "a fox" }] };
    const { texts } = await bodiesOf(post("/v1/chat/completions", body));
    expect(JSON.parse(texts[1] ?? "")).toMatchObject({ model: "gpt-image-1", prompt: "a fox" });
    expect(texts.slice(2).map((text) => text.includes(IMAGE))).toEqual([true, true]);
  });
});

describe("decision 0074: bodies of sound", () => {
  test("speech that streams in parts is one medium, the same on both sides", async () => {
    harness.upstream.play(sounds(SOUND.subarray(0, 100), SOUND.subarray(100)));
    const body = { model: "test/voice", voice: "alloy", input: "hello" };
    const { texts, media } = await bodiesOf(post("/v1/audio/speech", body));
    expect(texts[0]).toBe(JSON.stringify(body));
    const told = `"[audio/mpeg, ${SOUND.length} bytes, medium 1]"`;
    expect(texts.slice(2)).toEqual([told, told]);
    expect(media).toEqual([{ type: "audio/mpeg", bytes: SOUND.length, data: SOUND.toString("base64") }]);
  });

  test("a body beyond the limit is reduced to its size", async () => {
    const large = Buffer.concat([SOUND, Buffer.alloc(9 * 1024 * 1024)]);
    harness.upstream.play(sounds(large));
    const { texts, media } = await bodiesOf(
      post("/v1/audio/speech", { model: "test/voice", voice: "alloy", input: "x" }),
    );
    expect([texts[2], media]).toEqual([`"[audio/mpeg, ${large.length} bytes]"`, []]);
  });

  test("transcriptions: the recording as media of the upstream request, and the text", async () => {
    harness.upstream.play(harness.upstream.json({ text: "hello there" }));
    const file = new File([SOUND], "said.mp3", { type: "audio/mpeg" });
    const { texts, media } = await bodiesOf(form("/v1/audio/transcriptions", { model: "test/ear" }, "file", file));
    expect(texts[0]).toContain(`[audio/mpeg, ${SOUND.length} bytes]`);
    expect(texts[1]).toContain(`[audio/mpeg, ${SOUND.length} bytes, medium 1]`);
    expect(texts.slice(2).map((text) => text.includes("hello there"))).toEqual([true, true]);
    expect(media).toHaveLength(1);
  });
});

describe("decision 0074: bodies of videos", () => {
  test("the submit: kept under the receipt that is written when the video is done", async () => {
    const videos = await MemoryVideos.start({ config: { keys: [...VIDEO_CONFIG.keys, ...KEYS] } });
    const sent = videos.send({ key: KEY, prompt: "a fox in the snow" });
    const { answer, texts } = await bodiesOf(sent, videos.harness);
    expect(texts.slice(0, 2).map((text) => text.includes("a fox in the snow"))).toEqual([true, true]);
    expect(texts[2]).toContain("job-1");
    expect(texts[3]).toBe(answer.text);
    expect(texts[3]).toContain("/operations/");
  });
});
