import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { writeWav } from "../../simulator/voice/wav.ts";
import { failureOf } from "../sdk/support.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const SENTENCE = "The quick brown fox.";
const SPOKEN = {
  responseModalities: ["AUDIO"],
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
};

let gateway: TestGateway;
let openai: OpenAI;
let google: GoogleGenAI;
let last: Response | undefined;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
  openai = new OpenAI({
    apiKey: gateway.key,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 0,
    fetch: async (input, init) => {
      last = await fetch(input as string, init as RequestInit);
      return last;
    },
  });
  google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });
});
afterAll(() => gateway.stop());

const hear = async (wav: Uint8Array): Promise<string> =>
  (await openai.audio.transcriptions.create({ model: "sim/transcriber", file: await toFile(wav, "said.wav") })).text;

async function recorded(): Promise<string> {
  const speech = { model: "sim/voice", voice: "alloy", input: SENTENCE, response_format: "wav" } as const;
  return Buffer.from(await (await openai.audio.speech.create(speech)).arrayBuffer()).toString("base64");
}

describe("audio in chat", () => {
  const messages = [{ role: "user", content: "Say hello." } as const];
  const modalities: ("text" | "audio")[] = ["text", "audio"];

  test("a spoken response matches its transcript, and its tokens are billed separately", async () => {
    const answer = await openai.chat.completions.create({
      model: "sim/talker",
      modalities,
      audio: { voice: "alloy", format: "wav" },
      messages,
    });
    const response = last ?? new Response();
    const audio = answer.choices[0]?.message.audio;
    expect(await hear(Buffer.from(audio?.data ?? "", "base64"))).toBe(audio?.transcript ?? "none");
    const tokens = answer.usage?.completion_tokens_details?.audio_tokens ?? 0;
    expect(tokens).toBeGreaterThan(0);
    expect((await gateway.receipt(response)).usage).toMatchObject({ audio_output: tokens });
  });

  test("the same in a stream, which is forwarded as it arrives", async () => {
    const stream = await openai.chat.completions.create({
      model: "sim/talker",
      modalities,
      audio: { voice: "alloy", format: "pcm16" },
      messages,
      stream: true,
    });
    let transcript = "";
    const sound: Buffer[] = [];
    for await (const { choices } of stream) {
      const audio = (choices[0]?.delta as { audio?: { data?: string; transcript?: string } } | undefined)?.audio;
      transcript += audio?.transcript ?? "";
      if (audio?.data !== undefined) sound.push(Buffer.from(audio.data, "base64"));
    }
    expect(sound.length).toBeGreaterThan(1);
    expect(await hear(writeWav(Buffer.concat(sound), 24_000))).toBe(transcript);
  });

  test("a recording in a message is heard by models of the same protocol and of another", async () => {
    const data = await recorded();
    const content = [
      { type: "input_audio", input_audio: { data, format: "wav" } } as const,
      { type: "text", text: "What is said?" } as const,
    ];
    for (const model of ["sim/standard-chat", "sim/standard-genai"]) {
      const answer = await openai.chat.completions.create({ model, messages: [{ role: "user", content }] });
      expect({ model, text: answer.choices[0]?.message.content }).toEqual({
        model,
        text: expect.stringContaining(SENTENCE),
      });
    }
  });

  test("a speech-only model is refused, with the right endpoint; so is one that transcribes", async () => {
    const speaks = await failureOf(openai.chat.completions.create({ model: "sim/voice", messages }));
    expect(speaks).toMatchObject({ status: 400, param: "model" });
    expect(speaks.message).toContain("POST /v1/audio/speech");
    const listens = await failureOf(openai.chat.completions.create({ model: "sim/transcriber", messages }));
    expect(listens.message).toContain("POST /v1/audio/transcriptions");
  });
});

describe("audio in genai", () => {
  test("a speech model answers with samples, streamed or not", async () => {
    const whole = await google.models.generateContent({ model: "sim/voice", contents: SENTENCE, config: SPOKEN });
    const inline = whole.candidates?.[0]?.content?.parts?.[0]?.inlineData;
    expect(inline?.mimeType).toBe("audio/L16;codec=pcm;rate=24000");
    expect(await hear(writeWav(Buffer.from(inline?.data ?? "", "base64"), 24_000))).toBe(SENTENCE);
    const samples: Buffer[] = [];
    const stream = await google.models.generateContentStream({
      model: "sim/voice",
      contents: SENTENCE,
      config: SPOKEN,
    });
    for await (const { candidates } of stream) {
      for (const { inlineData } of candidates?.[0]?.content?.parts ?? []) {
        samples.push(Buffer.from(inlineData?.data ?? "", "base64"));
      }
    }
    expect(samples.length).toBeGreaterThan(1);
    expect(Buffer.concat(samples).toString("base64")).toBe(inline?.data ?? "none");
  });

  test("a recording is heard by models of the same protocol and of another", async () => {
    const data = await recorded();
    const contents = [
      { role: "user", parts: [{ inlineData: { data, mimeType: "audio/wav" } }, { text: "What is said?" }] },
    ];
    for (const model of ["sim/standard-genai", "sim/standard-chat"]) {
      const { text } = await google.models.generateContent({ model, contents });
      expect({ model, text }).toEqual({ model, text: expect.stringContaining(SENTENCE) });
    }
  });
});
