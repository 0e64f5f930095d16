import type { Exchange } from "../../../exchange.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { playImmediateOutcome } from "../../../media/play-outcome.ts";
import { StreamedAnswer } from "../../../media/streamed-answer.ts";
import { names } from "../../../names.ts";
import { countTokens } from "../../../text/tokens.ts";
import { speak } from "../../../voice/speak.ts";
import { SPEECH_RATE } from "../../../voice/tones.ts";
import { immediateErrors } from "../refusals.ts";
import { type GoogleHost, invalid, invalidValue } from "../text/errors.ts";
import { frameText } from "../text/framing.ts";

const VOICES = names(
  `achernar achird algenib algieba alnilam aoede autonoe callirrhoe charon despina enceladus erinome fenrir gacrux iapetus
  kore laomedeia leda orus puck pulcherrima rasalgethi sadachbia sadaltager schedar sulafat umbriel vindemiatrix zephyr
  zubenelgenubi`,
);
const TOKENS_PER_SECOND = 25;
const CHUNK_BYTES = 48_000;

/** Names that the host of text leaves to this one. */
export const isSpeechModel = (model: string): boolean => model === "voice" || /^gemini-.*tts/.test(model);

interface SpeechRequest {
  exchange: Exchange;
  host: GoogleHost;
  model: string;
  caller: string;
  streams: boolean;
}

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) ? value[name] : undefined);

function textOf(body: JsonObject): string {
  const { contents } = body;
  if (!Array.isArray(contents)) throw invalid("contents are not specified");
  const parts = contents.flatMap((content) => {
    const found = member(content, "parts");
    return Array.isArray(found) ? found : [];
  });
  return parts.map((part) => member(part, "text") ?? "").join("\n");
}

/** One voice: a conversation of several speakers uses the first one's. */
function voiceOf(generation: Json | undefined): string {
  const config = member(generation, "speechConfig");
  const speakers = member(member(config, "multiSpeakerVoiceConfig"), "speakerVoiceConfigs");
  const holder = Array.isArray(speakers) ? speakers[0] : config;
  const name = member(member(member(holder, "voiceConfig"), "prebuiltVoiceConfig"), "voiceName") ?? "Kore";
  if (typeof name !== "string") throw invalidValue("generationConfig.speechConfig", "TYPE_STRING", name);
  if (!VOICES.has(name.toLowerCase())) throw invalid(`Voice name ${name} is not supported.`);
  return name;
}

function requireSound(generation: Json | undefined): void {
  const modalities = member(generation, "responseModalities");
  if (Array.isArray(modalities) && modalities.length === 1 && modalities[0] === "AUDIO") return;
  throw invalid("The requested combination of response modalities is not supported by the model. It answers in AUDIO.");
}

/** Models that answer a text with its sound: samples, in one part, or in several where the answer is streamed. */
export function generateSpeech({ exchange, host, model, caller, streams }: SpeechRequest): Response {
  const { body } = exchange;
  if (!isObject(body)) throw invalid("Invalid JSON payload received.");
  exchange.countModel(model);
  const text = textOf(body);
  if (text === "") throw invalid("Unable to submit request because it has an empty text parameter.");
  requireSound(body.generationConfig);
  const voice = voiceOf(body.generationConfig);
  const outcome = chooseOutcome(text, 1, exchange, caller);
  const immediate = playImmediateOutcome(outcome, immediateErrors(model, host));
  if (immediate !== undefined) return immediate;
  const samples = speak(text, { voice, speed: 1 });
  if (!streams) return Response.json(answerOf(samples, model, usageOf(text, samples)));
  const events = exchange.url.searchParams.get("alt") === "sse";
  async function* frames(): AsyncGenerator<string> {
    for (let at = 0; at < samples.length; at += CHUNK_BYTES) {
      const last = at + CHUNK_BYTES >= samples.length;
      const chunk = answerOf(samples.subarray(at, at + CHUNK_BYTES), model, last ? usageOf(text, samples) : undefined);
      yield frameText(chunk, host, events, at === 0);
    }
    if (!events) yield "]\n";
  }
  return new StreamedAnswer(exchange, events ? "text/event-stream" : "application/json; charset=UTF-8", frames());
}

function answerOf(samples: Uint8Array, model: string, usage: JsonObject | undefined): JsonObject {
  const inlineData = {
    mimeType: `audio/L16;codec=pcm;rate=${SPEECH_RATE}`,
    data: Buffer.from(samples).toString("base64"),
  };
  const candidate = { content: { parts: [{ inlineData }], role: "model" }, index: 0 };
  return {
    candidates: [usage === undefined ? candidate : { ...candidate, finishReason: "STOP" }],
    ...(usage === undefined ? {} : { usageMetadata: usage }),
    modelVersion: model,
  };
}

function usageOf(text: string, samples: Uint8Array): JsonObject {
  const [prompt, sound] = [countTokens(text), Math.ceil((samples.length / 2 / SPEECH_RATE) * TOKENS_PER_SECOND)];
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: sound,
    totalTokenCount: prompt + sound,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: sound }],
  };
}
