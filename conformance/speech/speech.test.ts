import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { toFile } from "openai";
import { failureOf } from "../sdk/support.ts";
import { POOR_KEY, type SpeechHarness, STRICT_KEY, startSpeechHarness } from "./speech-harness.ts";

const SENTENCE = "The quick brown fox jumps. Over the lazy dog!";
const CHARACTERS = SENTENCE.length;

let harness: SpeechHarness;
beforeAll(async () => {
  harness = await startSpeechHarness();
});
afterAll(() => harness.stop());

type Speech = OpenAI.Audio.SpeechCreateParams;

async function say(more: Partial<Speech> = {}, client = harness.client): Promise<Buffer> {
  const speech = { model: "openai/tts-1", voice: "alloy", input: SENTENCE, response_format: "wav", ...more } as Speech;
  return Buffer.from(await (await client.audio.speech.create(speech)).arrayBuffer());
}

const recorded = async (more: Partial<Speech> = {}) => toFile(await say(more), "said.wav");

describe("a synthesised sentence is transcribed correctly", () => {
  test("through every speech host and every transcription host", async () => {
    for (const model of [
      "openai/tts-1",
      "openai/gpt-4o-mini-tts",
      "google/gemini-2.5-flash-preview-tts",
      "own/azure-voice",
    ]) {
      const file = await toFile(await say({ model }), "said.wav");
      for (const ear of ["openai/whisper-1", "openai/gpt-4o-transcribe", "own/groq-ear", "own/mistral-ear"]) {
        const { text } = await harness.client.audio.transcriptions.create({ model: ear, file });
        expect({ model, ear, text }).toEqual({ model, ear, text: SENTENCE });
      }
    }
  });

  test("at both base URLs, also by a vendor's own names", async () => {
    const file = await toFile(await say({ model: "openai/tts-1" }, harness.contract), "said.wav");
    const contract = await harness.contract.audio.transcriptions.create({ model: "openai/whisper-1", file });
    expect(contract.text).toBe(SENTENCE);
    const dropIn = await harness.client.audio.transcriptions.create({
      model: "whisper-1",
      file: await recorded({ model: "tts-1" }),
    });
    expect(dropIn.text).toBe(SENTENCE);
  });

  test("translated, though the simulator knows no languages", async () => {
    const translated = await harness.client.audio.translations.create({
      model: "openai/whisper-1",
      file: await recorded(),
    });
    expect(translated.text).toBe(SENTENCE);
    expect(await harness.receipt()).toMatchObject({ usage_source: "measured", price_rule: "audio 0.0001 USD/s" });
  });
});

describe("audio/speech", () => {
  test("answers in the requested format, or in the host's own", async () => {
    expect((await say()).toString("latin1", 0, 4)).toBe("RIFF");
    const mp3 = await harness.client.audio.speech.create({ model: "openai/tts-1", voice: "alloy", input: "Hi." });
    expect(mp3.headers.get("content-type")).toBe("audio/mpeg");
    expect((await say({ response_format: "pcm" })).equals((await say()).subarray(44))).toBe(true);
  });

  test("choices 5: is billed by the character, or by the tokens that the host reports", async () => {
    await say();
    expect(await harness.receipt()).toMatchObject({
      model: "openai/tts-1",
      dialect: { client: "chat", upstream: "service" },
      usage: { characters: CHARACTERS },
      usage_source: "measured",
      cost_nano_usd: CHARACTERS * 15_000,
    });
    await say({ model: "openai/gpt-4o-mini-tts" });
    const { usage, usage_source, cost_nano_usd } = await harness.receipt();
    expect(usage_source).toBe("measured");
    expect(cost_nano_usd).toBe((usage["input"] ?? 0) * 600 + (usage["audio_output"] ?? 0) * 12_000);
    expect(usage["audio_output"]).toBeGreaterThan(10);
    await say({ model: "google/gemini-2.5-flash-preview-tts" });
    expect(await harness.receipt()).toMatchObject({
      usage_source: "measured",
      price_rule: "prompt 0.5 + audio_output 10 USD/MTok",
    });
  });

  test("streams events with the same audio, whatever the host streams", async () => {
    for (const model of ["openai/tts-1", "openai/gpt-4o-mini-tts", "google/gemini-2.5-flash-preview-tts"]) {
      const answer = await harness.client.audio.speech.create({
        model,
        voice: "Kore",
        input: SENTENCE,
        response_format: "pcm",
        stream_format: "sse",
      });
      expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
      const events = (await answer.text())
        .split("\n\n")
        .filter((frame) => frame.startsWith("data: "))
        .map((frame) => JSON.parse(frame.slice(6)) as { type: string; audio?: string; usage?: object });
      const sound = Buffer.concat(events.map(({ audio = "" }) => Buffer.from(audio, "base64")));
      expect(sound.equals(await say({ model, voice: "Kore", response_format: "pcm" }))).toBe(true);
      expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { input_tokens: expect.any(Number) } });
    }
  });

  test("H09: settings that a model lacks are noted, or refused in a strict call", async () => {
    await say({ model: "google/gemini-2.5-flash-preview-tts", speed: 2 });
    expect((await harness.receipt()).fields.map(({ action, path }) => `${action} ${path}`)).toEqual([
      "approximated voice",
      "dropped speed",
    ]);
    const strict = harness.client.withOptions({ apiKey: STRICT_KEY });
    const refused = await failureOf(say({ instructions: "whisper" }, strict));
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.message).toContain("instructions");
  });

  test("an unsupported format is refused, listing the supported ones", async () => {
    const failure = await failureOf(say({ model: "google/gemini-2.5-flash-preview-tts", response_format: "mp3" }));
    expect(failure).toMatchObject({ status: 400, param: "response_format" });
    expect(failure.message).toContain('must be one of "wav", "pcm"');
  });

  test("the next offer speaks if the first fails, and the host's message reaches the client", async () => {
    expect((await say({ model: "own/two-voices" })).length).toBeGreaterThan(1000);
    expect((await harness.receipt()).offers.map(({ outcome }) => outcome)).toEqual(["failed", "answered"]);
    expect(await failureOf(say({ input: "sim:blocked" }))).toMatchObject({ status: 400 });
    expect(await failureOf(say({ input: "sim:busy" }))).toMatchObject({ status: 429 });
    expect(await failureOf(say({ input: "sim:garbage" }))).toMatchObject({ status: 502 });
    expect((await harness.receipt()).cost_nano_usd).toBe(0);
  });

  test("H23: a key without enough budget is refused before the host is called", async () => {
    const before = harness.simulator.stats().requests;
    const poor = harness.client.withOptions({ apiKey: POOR_KEY });
    expect(await failureOf(say({ input: "word ".repeat(100) }, poor))).toMatchObject({ status: 402 });
    expect(harness.simulator.stats().requests).toBe(before);
  });
});

describe("audio/transcriptions", () => {
  const hear = async (more: object = {}) =>
    harness.client.audio.transcriptions.create({ model: "openai/whisper-1", file: await recorded(), ...more });

  test("answers as text, as subtitles, and with times", async () => {
    expect(await hear({ response_format: "text" })).toBe(`${SENTENCE}\n` as never);
    const srt = String(await hear({ response_format: "srt" }));
    expect(srt).toStartWith("1\n00:00:00,150 --> 00:00:01,");
    expect(srt).toContain("\n2\n");
    expect(String(await hear({ response_format: "vtt" }))).toStartWith("WEBVTT\n\n00:00:00.150 --> ");
    const verbose = await hear({ response_format: "verbose_json", timestamp_granularities: ["word"] });
    expect(verbose).toMatchObject({
      text: SENTENCE,
      words: expect.arrayContaining([expect.objectContaining({ word: "fox" })]),
    });
  });

  test("choices 5: is billed by the second or by tokens, as the host reports, in every format", async () => {
    for (const response_format of ["json", "text", "srt", "vtt", "verbose_json"]) {
      await hear({ response_format });
      expect(await harness.receipt()).toMatchObject({
        usage: { seconds: 3 },
        usage_source: "measured",
        cost_nano_usd: 300_000,
      });
    }
    const { usage: reported } = await hear({ model: "openai/gpt-4o-transcribe" });
    if (reported?.type !== "tokens") throw new Error("no tokens");
    const { usage, cost_nano_usd } = await harness.receipt();
    expect(usage).toMatchObject({ audio_input: reported.input_tokens, output: reported.output_tokens });
    expect(cost_nano_usd).toBe(reported.input_tokens * 2_500 + reported.output_tokens * 10_000);
  });

  test("streams, from hosts that stream and from those that do not", async () => {
    for (const model of ["openai/gpt-4o-transcribe", "openai/whisper-1"]) {
      const stream = await harness.client.audio.transcriptions.create({ model, file: await recorded(), stream: true });
      let text = "";
      for await (const event of stream) {
        if (event.type === "transcript.text.delta") text += event.delta;
        else expect(event).toMatchObject({ type: "transcript.text.done", text: SENTENCE, usage: expect.any(Object) });
      }
      expect(text).toBe(SENTENCE);
      expect(await harness.receipt()).toMatchObject({ stream: true, usage_source: "measured" });
    }
  });

  test("contract 8: bad forms are refused, with the field and what is expected", async () => {
    const refused: [object, string, string][] = [
      [{ response_format: "docx" }, "response_format", "must be one of"],
      [{ temperature: 2 }, "temperature", "from 0 to 1"],
      [{ stream: true, response_format: "srt" }, "stream", 'use "json" or "text"'],
      [{ timestamp_granularities: ["word"] }, "timestamp_granularities", '"verbose_json"'],
      [{ model: "openai/gpt-4o-transcribe", response_format: "vtt" }, "response_format", '"json", "text"'],
      [{ model: "openai/tts-1" }, "model", "produces audio, not transcriptions"],
      [{ model: "own/deaf" }, "model", "None of the providers"],
    ];
    for (const [more, param, words] of refused) {
      const failure = await failureOf(hear(more));
      expect(failure).toMatchObject({ status: 400, param });
      expect(failure.message).toContain(words);
    }
    const empty = await failureOf(hear({ file: await toFile(new Uint8Array(), "said.wav") }));
    expect(empty).toMatchObject({ status: 400, param: "file" });
  });

  test("contract 8: a recording may be as large as a body; the host's own limit is reported to the client", async () => {
    const file = await toFile(new Uint8Array(24 * 1024 * 1024), "silence.mp3");
    expect((await hear({ file })).text).toBe("The simulator hears no words in this recording.");
    const larger = await failureOf(hear({ file: await toFile(new Uint8Array(26 * 1024 * 1024), "silence.mp3") }));
    expect(larger).toMatchObject({ status: 413 });
    const before = harness.simulator.stats().requests;
    const file65 = await toFile(new Uint8Array(65 * 1024 * 1024), "silence.mp3");
    const tooLarge = harness.client.audio.transcriptions.create({ model: "openai/whisper-1", file: file65 });
    const largest = await failureOf(tooLarge);
    expect(largest).toMatchObject({ status: 413 });
    expect(harness.simulator.stats().requests).toBe(before);
  });

  test("contract 8: a body that is not a form is refused by its type", async () => {
    const answer = await harness.post("/v1/audio/transcriptions", { model: "openai/whisper-1" });
    expect(answer.status).toBe(415);
    expect(await answer.text()).toContain("multipart/form-data");
  });
});

describe("moderations and completions", () => {
  test("a text is moderated by the named model, or by the first that moderates", async () => {
    const named = await harness.client.moderations.create({
      model: "openai/omni-moderation-latest",
      input: ["a", "sim:flagged"],
    });
    expect(named.model).toBe("openai/omni-moderation-latest");
    expect(named.results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect((await harness.client.moderations.create({ input: "a fox" })).results[0]?.flagged).toBe(false);
    expect(await harness.receipt()).toMatchObject({ model: "openai/omni-moderation-latest", cost_nano_usd: 0 });
    const empty = await failureOf(harness.client.moderations.create({ input: [] }));
    expect(empty).toMatchObject({ status: 400, param: "input" });
  });

  test("a prompt is completed, streamed or not, and its tokens are billed", async () => {
    const whole = await harness.client.completions.create({
      model: "own/writer",
      prompt: "Say hello.",
      max_tokens: 40,
    });
    expect(whole.model).toBe("own/writer");
    expect(whole.choices[0]?.text.length).toBeGreaterThan(10);
    expect((await harness.receipt()).usage).toMatchObject({
      input: whole.usage?.prompt_tokens,
      output: whole.usage?.completion_tokens,
    });
    const stream = await harness.client.completions.create({
      model: "own/writer",
      prompt: "Say hello.",
      max_tokens: 40,
      stream: true,
    });
    let text = "";
    for await (const part of stream) {
      expect(part.choices).toHaveLength(1);
      text += part.choices[0]?.text ?? "";
    }
    expect(text).toBe(whole.choices[0]?.text ?? "");
    expect(await harness.receipt()).toMatchObject({ usage_source: "measured", stream: true });
  });

  test("H16: a completion that breaks off is an error to its client, and is billed as far as it came", async () => {
    const read = async () => {
      const stream = await harness.client.completions.create({
        model: "own/cut-writer",
        prompt: "hello",
        max_tokens: 90,
        stream: true,
      });
      let parts = 0;
      for await (const part of stream) parts += part.choices.length;
      return parts;
    };
    expect((await failureOf(read())).message).toContain("closed the connection");
    expect(await harness.receipt()).toMatchObject({
      usage_source: "partial",
      usage: { input: 2, output: expect.any(Number) },
    });
  });

  test("another offer completes if the first fails", async () => {
    const { choices } = await harness.client.completions.create({ model: "own/two-writers", prompt: "Hello." });
    expect(choices).toHaveLength(1);
  });
});

test("unsupported endpoints say so in one sentence", async () => {
  const sentences: [string, string][] = [
    ["/v1/fine_tuning/jobs", "The Fine-tuning API is not supported"],
    ["/v1/realtime/sessions", "The Realtime beta API is not supported"],
    ["/v1/audio/voices", "The Voices API is not supported"],
  ];
  for (const [path, words] of sentences) {
    const answer = await harness.post(path, {});
    expect(answer.status).toBe(404);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).toContain(words);
  }
});
