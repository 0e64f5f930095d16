import { GatewayError } from "../../canon/error.ts";
import { completionTokens, promptTokens, type Usage } from "../../canon/usage.ts";
import type { Transcript, TranscriptSegment } from "./transcript.ts";
import type { HostFormat, TranscriptFormat } from "./transcription-call.ts";

interface EncodedTranscript {
  type: string;
  body: string;
}

const PLAIN = "text/plain; charset=utf-8";

interface Formats {
  wanted: TranscriptFormat;
  /** The format that was requested from the host. */
  made: HostFormat;
}

/** The response in the requested format. `usage` is what is billed. */
export function encodeTranscript(transcript: Transcript, { wanted, made }: Formats, usage: Usage): EncodedTranscript {
  const { text } = transcript;
  switch (wanted) {
    case "text":
      return { type: PLAIN, body: `${text}\n` };
    case "srt":
      return { type: PLAIN, body: srtOf(segmentsOf(transcript)) };
    case "vtt":
      return { type: PLAIN, body: vttOf(segmentsOf(transcript)) };
    default: {
      const raw = wanted === made ? transcript.raw : undefined;
      return { type: "application/json", body: JSON.stringify(raw ?? { text, usage: encodeTranscriptUsage(usage) }) };
    }
  }
}

/** By tokens if there are any, otherwise by duration. */
export function encodeTranscriptUsage(usage: Usage): object {
  const [input, output] = [promptTokens(usage), completionTokens(usage)];
  if (input + output === 0) return { type: "duration", seconds: usage.seconds ?? 0 };
  const { audioInput } = usage;
  return {
    type: "tokens",
    input_tokens: input,
    ...(audioInput === undefined
      ? {}
      : { input_token_details: { audio_tokens: audioInput, text_tokens: input - audioInput } }),
    output_tokens: output,
    total_tokens: input + output,
  };
}

/** The events for a host that responded in one piece. */
export function eventsOfTranscript({ text }: Transcript, usage: Usage): object[] {
  return [
    { type: "transcript.text.delta", delta: text },
    { type: "transcript.text.done", text, usage: encodeTranscriptUsage(usage) },
  ];
}

function segmentsOf({ text, segments, seconds }: Transcript): readonly TranscriptSegment[] {
  if (segments !== undefined) return segments;
  if (text.trim() === "") return [];
  if (seconds === undefined)
    throw new GatewayError("upstream_failed", "The provider's response contains no timestamps.");
  return [{ text, start: 0, end: seconds }];
}

const srtOf = (segments: readonly TranscriptSegment[]): string =>
  segments.map((one, index) => `${index + 1}\n${span(one, ",")}\n${one.text.trim()}\n\n`).join("");

const vttOf = (segments: readonly TranscriptSegment[]): string =>
  `WEBVTT\n\n${segments.map((one) => `${span(one, ".")}\n${one.text.trim()}\n\n`).join("")}`;

const span = ({ start, end }: TranscriptSegment, mark: string): string =>
  `${clock(start, mark)} --> ${clock(end, mark)}`;

/** `00:01:02,345`. */
function clock(seconds: number, mark: string): string {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const part = (value: number, digits = 2): string => String(Math.floor(value)).padStart(digits, "0");
  const minutes = part((ms / 60_000) % 60);
  return `${part(ms / 3_600_000)}:${minutes}:${part((ms / 1000) % 60)}${mark}${part(ms % 1000, 3)}`;
}
