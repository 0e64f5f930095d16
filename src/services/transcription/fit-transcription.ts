import { refuse } from "../../dialects/reading/check.ts";
import type { TranscriptionCapabilities } from "./transcription-adapter.ts";
import type { FittedTranscription, HostFormat, TranscriptFormat, TranscriptionRequest } from "./transcription-call.ts";

/** What each format is made of. */
const MADE_OF: Readonly<Record<TranscriptFormat, HostFormat>> = {
  json: "json",
  text: "json",
  srt: "verbose_json",
  vtt: "verbose_json",
  verbose_json: "verbose_json",
  diarized_json: "diarized_json",
};

/** The call as a host's model is asked. A format that it knows too little for is refused. */
export function fitTranscription(
  { call, format, stream }: Pick<TranscriptionRequest, "call" | "format" | "stream">,
  { formats, streams }: TranscriptionCapabilities,
  model: string,
): FittedTranscription {
  const needed = MADE_OF[format];
  if (!formats.includes(needed)) {
    const possible = Object.entries(MADE_OF).filter(([, host]) => formats.includes(host));
    refuse("response_format", `must be one of ${possible.map(([name]) => `"${name}"`).join(", ")} for ${model}`);
  }
  // Hosts say how long a recording is, but in the plain answers to translations.
  const told = call.task === "translate" && formats.includes("verbose_json") ? "verbose_json" : needed;
  return { ...call, format: told, stream: stream && streams };
}
