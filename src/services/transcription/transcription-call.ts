import type { JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** What a client may ask for. */
export const TRANSCRIPT_FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** The forms that hosts are asked for: only these say what was used. The others are made of them. */
export type HostFormat = "json" | "verbose_json" | "diarized_json";

/** In the language of the recording, or in English. */
export type TranscriptionTask = "transcribe" | "translate";

export interface Recording {
  fileName: string;
  mimeType: string;
  bytes: Uint8Array;
}

/** A recording whose words are wanted, in no protocol's form. */
export interface TranscriptionCall {
  task: TranscriptionTask;
  file: Recording;
  language?: string;
  prompt?: string;
  temperature?: number;
  granularities: readonly string[];
  /** Fields that only some hosts know, as the form has them. */
  extras: readonly { name: string; value: string }[];
}

/** The same as one host's model is asked. */
export interface FittedTranscription extends TranscriptionCall {
  format: HostFormat;
  stream: boolean;
}

/** A request for a transcription, read. */
export interface TranscriptionRequest {
  call: TranscriptionCall;
  format: TranscriptFormat;
  stream: boolean;
  /** What may speak to the gateway itself. */
  routing: JsonObject;
  /** What is not honoured, whichever offer answers. */
  notes: readonly FieldNote[];
  model: string;
}
