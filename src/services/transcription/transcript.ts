import type { JsonObject } from "../../base/json.ts";
import type { Usage } from "../../canon/usage.ts";

/** A stretch of a recording, in seconds. */
export interface TranscriptSegment {
  text: string;
  start: number;
  end: number;
}

/** A host's transcript of a recording. */
export interface Transcript {
  text: string;
  /** The duration of the recording. */
  seconds?: number;
  segments?: readonly TranscriptSegment[];
  /** Absent if the host does not report it. */
  usage?: Usage;
  /** The response as received, if it has the form that clients expect. */
  raw?: JsonObject;
}

/** An event of a streamed response. */
export interface TranscriptEvent {
  /** As the client gets it. */
  event: JsonObject;
  /** The last event has the whole text. */
  done?: { text: string; usage?: Usage };
}
