import type { JsonObject } from "../../base/json.ts";
import type { Usage } from "../../canon/usage.ts";

/** A stretch of a recording, in seconds. */
export interface TranscriptSegment {
  text: string;
  start: number;
  end: number;
}

/** What a host says of a recording. */
export interface Transcript {
  text: string;
  /** Of the recording. */
  seconds?: number;
  segments?: readonly TranscriptSegment[];
  /** Absent where the host does not say. */
  usage?: Usage;
  /** The answer as it came, where it is in the form that clients know. */
  raw?: JsonObject;
}

/** What a streamed answer says. */
export interface TranscriptEvent {
  /** As the client gets it. */
  event: JsonObject;
  /** Part of the text. */
  delta?: string;
  /** The last event has the whole text. */
  done?: { text: string; usage?: Usage };
}
