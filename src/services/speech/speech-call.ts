import type { JsonObject } from "../../base/json.ts";

/** `pcm`: samples of 16 bits, little-endian, one channel, 24,000 a second, without any head. */
export const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;

export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** A text that is to be spoken, in no protocol's form. */
export interface SpeechCall {
  input: string;
  /** A name, or the id of a voice that was made at the host. */
  voice?: string | { id: string };
  /** How it is to be spoken. */
  instructions?: string;
  /** 1 is the ordinary speed. */
  speed?: number;
  /** The host's own choice where absent. */
  format?: SpeechFormat;
  /** Fields that only some hosts know. */
  extras: JsonObject;
}

/** The same as one host's model takes it. */
export interface FittedSpeechCall extends SpeechCall {
  format: SpeechFormat;
}

/** The fields of a call that a host may not know. */
export type SpeechField = "instructions" | "speed" | "extras";

/** A request for speech, read. */
export interface SpeechRequest {
  call: SpeechCall;
  /** The sound is sent as events, and not by itself. */
  events: boolean;
}

/** The media type of the formats. */
export const SPEECH_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};
