import { invalid, modelNotFound } from "../text/errors.ts";

/** What the models that speak differ in. */
export interface SpeakingModel {
  /** They stream events too, and count tokens; the older ones count characters. */
  events: boolean;
}

const SPEAKING: Readonly<Record<string, SpeakingModel>> = {
  voice: { events: true },
  "tts-1": { events: false },
  "tts-1-hd": { events: false },
  "gpt-4o-mini-tts": { events: true },
  "gpt-4o-mini-tts-2025-12-15": { events: true },
};

/** What the models that listen differ in. */
export interface ListeningModel {
  formats: readonly string[];
  /** Others answer whole, whatever was asked. */
  streams: boolean;
  counts: "tokens" | "seconds";
  translates: boolean;
}

const WHISPER: ListeningModel = {
  formats: ["json", "text", "srt", "verbose_json", "vtt"],
  streams: false,
  counts: "seconds",
  translates: true,
};
const GPT: ListeningModel = { formats: ["json"], streams: true, counts: "tokens", translates: false };

const LISTENING: Readonly<Record<string, ListeningModel>> = {
  transcriber: { ...WHISPER, streams: true },
  "whisper-1": WHISPER,
  "whisper-large-v3": WHISPER,
  "gpt-transcribe": GPT,
  "gpt-4o-transcribe": GPT,
  "gpt-4o-mini-transcribe": GPT,
  "gpt-4o-transcribe-diarize": { ...GPT, formats: ["json", "text", "diarized_json"] },
};

function find<Model>(models: Readonly<Record<string, Model>>, name: string): Model {
  const model = Object.hasOwn(models, name) ? models[name] : undefined;
  if (model === undefined) throw modelNotFound(name);
  return model;
}

export const speakingModel = (name: string): SpeakingModel => find(SPEAKING, name);

export function listeningModel(name: string, translates: boolean): ListeningModel {
  const model = find(LISTENING, name);
  if (translates && !model.translates) {
    throw invalid(`The model '${name}' does not support translation.`, "model", "invalid_model");
  }
  return model;
}
