import type { JsonObject } from "../../base/json.ts";

/** `pcm`: samples of 16 bits, little-endian, one channel, 24,000 a second, without any head. */
export const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;

export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** A text to speak, independent of the protocol. */
export interface SpeechCall {
  input: string;
  /** A name, or the id of a custom voice at the host. */
  voice?: string | { id: string };
  /** How to speak the text. */
  instructions?: string;
  /** 1 is the ordinary speed. */
  speed?: number;
  /** The host's choice if absent. */
  format?: SpeechFormat;
  /** Fields that only some hosts support. */
  extras: JsonObject;
}

/** The call as one host's model accepts it. */
export interface FittedSpeechCall extends SpeechCall {
  format: SpeechFormat;
}

/** The fields of a call that a host may not support. */
export type SpeechField = "instructions" | "speed" | "extras";

/** A request for speech, read. */
export interface SpeechRequest {
  call: SpeechCall;
  /** The audio is sent as events instead of plain bytes. */
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
