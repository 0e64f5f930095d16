// https://ai.google.dev/gemini-api/docs/speech-generation

import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import { decodeUsage } from "../../dialects/genai/answer/usage.ts";
import type { SpeechAdapter, SpeechPart, SpeechReader } from "../../services/speech/speech-adapter.ts";
import type { FittedSpeechCall, SpeechFormat } from "../../services/speech/speech-call.ts";
import { wavHead } from "../../wire/wav-head.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { googleError } from "./errors.ts";
import { type GoogleHost, verbPath } from "./host.ts";

/** Ten minutes of samples in base64, twice. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const DEFAULT_RATE = 24_000;

/** Voices by the names of another vendor, which many clients send unasked, and one here that is like it. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["alloy", "Kore"],
  ["ash", "Orus"],
  ["ballad", "Enceladus"],
  ["cedar", "Charon"],
  ["coral", "Aoede"],
  ["echo", "Puck"],
  ["fable", "Zephyr"],
  ["marin", "Leda"],
  ["nova", "Autonoe"],
  ["onyx", "Algenib"],
  ["sage", "Callirrhoe"],
  ["shimmer", "Despina"],
  ["verse", "Fenrir"],
]);
const DEFAULT_VOICE = "Kore";

/** Models that answer a text with its sound, by `generateContent`. */
export const googleSpeech = (host: GoogleHost): SpeechAdapter => ({
  dialect: "genai",
  serves: (model) => /^gemini-.*tts/.test(model),
  capabilities: () => ({
    formats: ["wav", "pcm"],
    takes: [],
    speaksInstructions: true,
    answersWhole: true,
    otherVoice: (voice) => {
      const name = typeof voice === "string" ? voice : undefined;
      const other = OTHER_NAMES.get(name?.toLowerCase() ?? "");
      if (name !== undefined && other === undefined) return undefined;
      return {
        voice: other ?? DEFAULT_VOICE,
        reason: `this model does not have the requested voice; using ${other ?? DEFAULT_VOICE} speaks`,
      };
    },
  }),
  submit: (call, context) => ({
    method: "POST",
    url: verbPath(host, context, "generateContent"),
    body: { json: bodyOf(call) },
  }),
  createReader: ({ format }) => new SpeechInAnswer(format),
  error: googleError,
});

function bodyOf({ input, instructions, voice }: FittedSpeechCall): JsonObject {
  const text = instructions === undefined ? input : `${instructions}\n\n${input}`;
  return {
    contents: [{ role: "user", parts: [{ text }] }],
    generationConfig: {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
    },
  };
}

/** The whole answer is one object, with samples in base64. */
class SpeechInAnswer implements SpeechReader {
  readonly #format: SpeechFormat;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(format: SpeechFormat) {
    this.#format = format;
  }

  read(chunk: Uint8Array): SpeechPart {
    this.#text += this.#decoder.decode(chunk, { stream: true });
    if (this.#text.length > MAX_ANSWER_BYTES) {
      throw new GatewayError("upstream_failed", `The provider's response is larger than ${MAX_ANSWER_BYTES} bytes.`);
    }
    return { sound: new Uint8Array() };
  }

  end(): SpeechPart {
    const body = parseObject(this.#text);
    this.#text = "";
    if (body === undefined) throw new GatewayError("upstream_failed", "The provider's response is not valid JSON.");
    const [candidate] = arrayAt(body, "candidates");
    const found = arrayAt(objectAt(candidate, "content"), "parts").flatMap((part) => {
      const data = stringAt(objectAt(part, "inlineData"), "data");
      return data === undefined ? [] : [{ data, type: stringAt(objectAt(part, "inlineData"), "mimeType") ?? "" }];
    });
    if (found.length === 0) throw silentAnswer(body, stringAt(candidate, "finishReason"));
    const samples = Buffer.concat(found.map(({ data }) => Buffer.from(data, "base64")));
    const rate = Number(/rate=(\d{4,6})/.exec(found[0]?.type ?? "")?.[1] ?? DEFAULT_RATE);
    const sound = this.#format === "wav" ? Buffer.concat([wavHead(samples.length, rate), samples]) : samples;
    const usage = usageOf(body);
    return usage === undefined ? { sound } : { sound, usage };
  }
}

function silentAnswer(body: JsonObject, finishReason: string | undefined): GatewayError {
  const blocked = stringAt(objectAt(body, "promptFeedback"), "blockReason");
  if (blocked !== undefined) return new GatewayError("content_blocked", `The provider rejected the text (${blocked}).`);
  return emptyAnswer(`sound (${finishReason ?? "no reason given"})`);
}

/** Where a host does not report tokens of sound separately, all that it generated is sound. */
function usageOf(body: JsonObject): Usage | undefined {
  const usage = decodeUsage(body);
  if (usage === undefined || usage.audioOutput !== undefined) return usage;
  const { output = 0, ...rest } = usage;
  return { ...rest, audioOutput: output };
}
