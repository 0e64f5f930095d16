import { expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { MediaHostHarness } from "../../../../testing/media-host-harness.ts";
import { azureMedia, openaiMedia } from "../media.ts";

const SENTENCE = "The quick brown fox jumps. Over the lazy dog!";

const harness = new MediaHostHarness(openaiMedia);
const client = new OpenAI({
  apiKey: "any-key",
  baseURL: "http://127.0.0.1:1/openai/v1",
  maxRetries: 0,
  fetch: async (input, init) =>
    (await harness.answer(new Request(input as string, init as RequestInit))) ?? new Response(null, { status: 404 }),
});

async function say(format: "wav" | "mp3" | "pcm", input = SENTENCE, speed = 1): Promise<Uint8Array> {
  const answer = await client.audio.speech.create({
    model: "tts-1",
    voice: "alloy",
    input,
    response_format: format,
    speed,
  });
  return new Uint8Array(await answer.arrayBuffer());
}

const recording = async (format: "wav" | "mp3" = "wav", input = SENTENCE) =>
  toFile(await say(format, input), `said.${format}`);

test("generated speech is understood by every transcription model", async () => {
  for (const model of ["whisper-1", "gpt-4o-transcribe", "gpt-4o-transcribe-diarize", "transcriber"]) {
    for (const format of ["wav", "mp3"] as const) {
      const { text } = await client.audio.transcriptions.create({ model, file: await recording(format) });
      expect(text).toBe(SENTENCE);
    }
  }
  const { text } = await client.audio.translations.create({ model: "whisper-1", file: await recording() });
  expect(text).toBe(SENTENCE);
});

test("each format is what its type says", async () => {
  expect(Buffer.from(await say("wav")).toString("latin1", 0, 4)).toBe("RIFF");
  expect(Buffer.from(await say("mp3")).toString("latin1", 0, 3)).toBe("ID3");
  expect((await say("pcm")).length % 2).toBe(0);
  expect((await say("pcm", SENTENCE, 2)).length).toBeLessThan((await say("pcm")).length);
});

test("events hold the same sound, and say what was used", async () => {
  const answer = await client.audio.speech.create({
    model: "gpt-4o-mini-tts",
    voice: "alloy",
    input: SENTENCE,
    response_format: "pcm",
    stream_format: "sse",
  });
  const events = (await answer.text())
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.slice("data: ".length)) as { type: string; audio?: string; usage?: object });
  const sound = Buffer.concat(events.map(({ audio = "" }) => Buffer.from(audio, "base64")));
  expect(sound.equals(await say("pcm"))).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { input_tokens: expect.any(Number) } });
});

test("transcripts come with times, as subtitles and as a stream", async () => {
  const file = await recording();
  const verbose = await client.audio.transcriptions.create({
    model: "whisper-1",
    file,
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
  });
  expect(verbose.segments?.map(({ text }) => text.trim())).toEqual([
    "The quick brown fox jumps.",
    "Over the lazy dog!",
  ]);
  expect(verbose.words?.[0]).toMatchObject({ word: "The", start: 0.15 });
  expect(verbose.usage).toEqual({ type: "duration", seconds: Math.ceil(verbose.duration) });
  const srt = await client.audio.transcriptions.create({ model: "whisper-1", file, response_format: "srt" });
  expect(srt).toStartWith("1\n00:00:00,150 --> ");
  const vtt = await client.audio.transcriptions.create({ model: "whisper-1", file, response_format: "vtt" });
  expect(vtt).toStartWith("WEBVTT\n\n00:00:00.150 --> ");
  const stream = await client.audio.transcriptions.create({ model: "gpt-4o-transcribe", file, stream: true });
  let deltas = "";
  for await (const event of stream) {
    if (event.type === "transcript.text.delta") deltas += event.delta;
    if (event.type === "transcript.text.done")
      expect(event).toMatchObject({ text: SENTENCE, usage: { type: "tokens" } });
  }
  expect(deltas).toBe(SENTENCE);
});

test("refuses what the host refuses", async () => {
  const speech = { model: "tts-1", voice: "alloy", input: "Hi." };
  const file = await recording();
  const text = await toFile(Buffer.from("x"), "a.txt");
  const refused: [() => Promise<unknown>, object][] = [
    [() => client.audio.speech.create({ ...speech, model: "tts-9" }), { status: 404, code: "model_not_found" }],
    [() => client.audio.speech.create({ ...speech, input: "" }), { status: 400, param: "input" }],
    [() => client.audio.speech.create({ ...speech, input: "a".repeat(4_097) }), { status: 400, param: "input" }],
    [() => client.audio.speech.create({ ...speech, speed: 5 }), { status: 400, param: "speed" }],
    [
      () => client.audio.speech.create({ ...speech, response_format: "opus" }),
      { status: 400, param: "response_format" },
    ],
    [() => client.audio.speech.create({ ...speech, stream_format: "sse" }), { status: 400, param: "stream_format" }],
    [() => client.audio.speech.create({ ...speech, input: "sim:busy" }), { status: 429 }],
    [
      () => client.audio.transcriptions.create({ model: "gpt-4o-transcribe", file, response_format: "srt" }),
      { status: 400, param: "response_format" },
    ],
    [() => client.audio.transcriptions.create({ model: "whisper-1", file: text }), { status: 400, param: "file" }],
    [() => client.audio.translations.create({ model: "gpt-4o-transcribe", file }), { status: 400, param: "model" }],
  ];
  for (const [call, error] of refused) await expect(call().then(() => undefined)).rejects.toMatchObject(error);
});

test("moderations flag what asks for it", async () => {
  const { results } = await client.moderations.create({ input: ["a fox", "sim:flagged"] });
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
  expect(results[1]?.categories.violence).toBe(true);
});

test("Azure takes its own header, and answers in its own shape of errors", async () => {
  const azure = new MediaHostHarness(azureMedia);
  const body = { model: "tts-1", voice: "alloy", input: "Hi.", response_format: "wav" };
  const path = "/hosts/azure-openai/openai/v1/audio/speech";
  const spoken = await azure.ask(path, { body, headers: { "api-key": "any-key" } });
  expect(spoken.headers.get("content-type")).toBe("audio/wav");
  expect((await azure.send(path, { body })).status).toBe(401);
});
