import type { JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** The formats that a client can request. */
export const TRANSCRIPT_FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** The formats that are requested from hosts: only these report usage. The others are derived from them. */
export type HostFormat = "json" | "verbose_json" | "diarized_json";

/** In the language of the recording, or in English. */
export type TranscriptionTask = "transcribe" | "translate";

export interface Recording {
  fileName: string;
  mimeType: string;
  bytes: Uint8Array;
}

/** A recording to transcribe, independent of the protocol. */
export interface TranscriptionCall {
  task: TranscriptionTask;
  file: Recording;
  language?: string;
  prompt?: string;
  temperature?: number;
  granularities: readonly string[];
  /** Fields that only some hosts support. */
  extras: readonly { name: string; value: string }[];
}

/** The call as one host's model accepts it. */
export interface FittedTranscription extends TranscriptionCall {
  format: HostFormat;
  stream: boolean;
}

/** A request for a transcription, read. */
export interface TranscriptionRequest {
  call: TranscriptionCall;
  format: TranscriptFormat;
  stream: boolean;
  /** Fields that address the gateway itself. */
  routing: JsonObject;
  /** Fields that no offer honours. */
  notes: readonly FieldNote[];
  model: string;
}
