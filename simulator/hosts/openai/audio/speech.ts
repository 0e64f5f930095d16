import type { Exchange } from "../../../exchange.ts";
import { isObject, type JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { playImmediateOutcome, takeTime } from "../../../media/play-outcome.ts";
import { StreamedAnswer } from "../../../media/streamed-answer.ts";
import { countTokens } from "../../../text/tokens.ts";
import { writeMp3 } from "../../../voice/mp3.ts";
import { speak } from "../../../voice/speak.ts";
import { SPEECH_RATE } from "../../../voice/tones.ts";
import { writeWav } from "../../../voice/wav.ts";
import { immediateErrors } from "../immediate-errors.ts";
import { jsonFields, refuseUnknown } from "../request-fields.ts";
import { missing, optionalEnum, optionalNumber, requireString, wrongType } from "../text/check.ts";
import { invalid, openaiError } from "../text/errors.ts";
import { speakingModel } from "./audio-models.ts";

const FIELDS = ["model", "input", "voice", "instructions", "response_format", "speed", "stream_format"];
const MAX_CHARACTERS = 4_096;
const CHUNK_BYTES = 16_384;
const SAMPLES_PER_TOKEN = 1_200;

/** The host knows more of them; the simulator has no encoders for these. */
const FORMATS: Readonly<Record<string, { type: string; encode: (samples: Uint8Array, text: string) => Uint8Array }>> = {
  mp3: { type: "audio/mpeg", encode: (samples, text) => writeMp3(text, samples.length / 2 / SPEECH_RATE) },
  wav: { type: "audio/wav", encode: (samples) => writeWav(samples, SPEECH_RATE) },
  pcm: { type: "audio/pcm", encode: (samples) => samples },
};

function voiceOf(body: JsonObject): string {
  const { voice } = body;
  if (voice === undefined) throw missing("voice");
  if (isObject(voice)) return requireString(voice.id, "voice.id");
  if (typeof voice !== "string") throw wrongType(voice, "string", "voice");
  return voice;
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

const frame = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`;

/** `audio/speech`: streamed audio, or events with parts of it. */
export async function answerSpeech(exchange: Exchange, key: string): Promise<Response> {
  const body = jsonFields(exchange);
  const name = requireString(body.model, "model");
  exchange.countModel(name);
  const model = speakingModel(name);
  refuseUnknown(Object.keys(body), FIELDS);
  const input = requireString(body.input, "input");
  if (input === "") throw invalid("Invalid 'input': empty string.", "input", "empty_string");
  if ([...input].length > MAX_CHARACTERS) {
    throw invalid(
      `Invalid 'input': string too long. Expected a maximum length of ${MAX_CHARACTERS}.`,
      "input",
      "string_above_max_length",
    );
  }
  const voice = voiceOf(body);
  const speed = optionalNumber(body, "speed", [0.25, 4]) ?? 1;
  const format = optionalEnum(body, "response_format", Object.keys(FORMATS)) ?? "mp3";
  const events = optionalEnum(body, "stream_format", ["sse", "audio"]) === "sse";
  if (events && !model.events) {
    throw invalid(`'stream_format' of 'sse' is not supported with '${name}'.`, "stream_format", "unsupported_value");
  }
  const outcome = chooseOutcome(input, 1, exchange, key);
  const blocked = openaiError(400, "The input was rejected by the safety system.", {
    code: "content_policy_violation",
  });
  const immediate = playImmediateOutcome(outcome, immediateErrors(name, blocked));
  if (immediate !== undefined) return immediate;
  await takeTime(outcome, exchange);
  const samples = speak(input, { voice, speed });
  const { type, encode } = FORMATS[format] ?? { type: "", encode: () => samples };
  const sound = encode(samples, input);
  if (!events) return new StreamedAnswer(exchange, type, paced(chunksOf(sound)));
  const output = Math.ceil(samples.length / 2 / SAMPLES_PER_TOKEN);
  const heard = countTokens(input);
  const usage = { input_tokens: heard, output_tokens: output, total_tokens: heard + output };
  return new StreamedAnswer(exchange, "text/event-stream; charset=utf-8", eventsOf(sound, usage));
}

async function* paced<T>(chunks: Iterable<T>): AsyncGenerator<T> {
  yield* chunks;
}

async function* eventsOf(sound: Uint8Array, usage: JsonObject): AsyncGenerator<string> {
  for (const chunk of chunksOf(sound)) {
    yield frame({ type: "speech.audio.delta", audio: Buffer.from(chunk).toString("base64") });
  }
  yield frame({ type: "speech.audio.done", usage });
}
