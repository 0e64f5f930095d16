// https://platform.openai.com/docs/api-reference/audio/createSpeech

import { isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { countAt, type Usage } from "../../canon/usage.ts";
import { decodeErrorObject } from "../../dialects/answer/error-object.ts";
import type { SpeechAdapter, SpeechPart, SpeechReader } from "../../services/speech/speech-adapter.ts";
import { type FittedSpeechCall, SPEECH_FORMATS } from "../../services/speech/speech-call.ts";
import { EventSplitter, readFrames } from "../../wire/sse.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { OPENAI_CODES } from "./errors.ts";

/** Differences between hosts of this API. */
interface SpeechHost {
  serves: (model: string) => boolean;
  /** Models that also support events: only those report usage. */
  answersInEvents: (model: string) => boolean;
  takesInstructions: (model: string) => boolean;
}

export const openaiSpeech = ({ serves, answersInEvents, takesInstructions }: SpeechHost): SpeechAdapter => ({
  serves,
  capabilities: (model) => ({
    formats: SPEECH_FORMATS,
    takes: takesInstructions(model) ? ["instructions", "speed", "extras"] : ["speed", "extras"],
  }),
  submit: (call, { model }) => ({
    method: "POST",
    url: "/audio/speech",
    headers: { accept: "*/*" },
    body: { json: bodyOf(call, model, answersInEvents(model)) },
  }),
  createReader: (_call, _context, contentType) => readerOf(contentType),
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
});

function bodyOf(
  { input, voice, instructions, speed, format, extras }: FittedSpeechCall,
  model: string,
  events: boolean,
) {
  return {
    ...extras,
    model,
    input,
    ...withoutAbsent({ voice, instructions, speed }),
    response_format: format,
    ...(events ? { stream_format: "sse" } : {}),
  };
}

function readerOf(contentType = "application/octet-stream"): SpeechReader {
  const [type = ""] = contentType.toLowerCase().split(";");
  if (type === "text/event-stream") return new SpeechEvents();
  if (/^(?:audio|application)\//.test(type) && !/json|xml/.test(type)) return soundItself();
  throw new GatewayError("upstream_failed", `The provider answered with ${type.slice(0, 80)} instead of audio.`);
}

function soundItself(): SpeechReader {
  let any = false;
  return {
    read: (sound) => {
      any ||= sound.length > 0;
      return { sound };
    },
    end: () => {
      if (!any) throw emptyAnswer("sound");
      return { sound: new Uint8Array() };
    },
  };
}

/** Audio in events, the last of which reports usage. */
class SpeechEvents implements SpeechReader {
  readonly #splitter = new EventSplitter();
  #done = false;
  #any = false;

  read(chunk: Uint8Array): SpeechPart {
    return this.#readText(this.#splitter.push(chunk));
  }

  end(): SpeechPart {
    const part = this.#readText(this.#splitter.end());
    if (!this.#done)
      throw new GatewayError("upstream_failed", "The provider's stream ended before the audio was complete.");
    if (!this.#any) throw emptyAnswer("sound");
    return part;
  }

  #readText(text: string): SpeechPart {
    const sounds: Uint8Array[] = [];
    let usage: Usage | undefined;
    for (const { data } of readFrames(text)) {
      const event = data === undefined ? undefined : parseObject(data);
      if (event === undefined) continue;
      if (isObject(event["error"]) || event["type"] === "error") throw decodeErrorObject(event, 200);
      const audio = stringAt(event, "audio");
      if (audio) {
        this.#any = true;
        sounds.push(Buffer.from(audio, "base64"));
      }
      if (event["type"] !== "speech.audio.done") continue;
      this.#done = true;
      usage = usageOf(objectAt(event, "usage"));
    }
    const [first, ...others] = sounds;
    const sound = first !== undefined && others.length === 0 ? first : Buffer.concat(sounds);
    return usage === undefined ? { sound } : { sound, usage };
  }
}

function usageOf(raw: JsonObject | undefined): Usage | undefined {
  const input = countAt(raw, "input_tokens");
  const audioOutput = countAt(raw, "output_tokens");
  return input === undefined || audioOutput === undefined ? undefined : { input, audioOutput };
}
