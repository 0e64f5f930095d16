import { refuse } from "../../dialects/reading/check.ts";
import type { TranscriptionCapabilities } from "./transcription-adapter.ts";
import type { FittedTranscription, HostFormat, TranscriptFormat, TranscriptionRequest } from "./transcription-call.ts";

/** The host format that each client format is made from. */
const MADE_OF: Readonly<Record<TranscriptFormat, HostFormat>> = {
  json: "json",
  text: "json",
  srt: "verbose_json",
  vtt: "verbose_json",
  verbose_json: "verbose_json",
  diarized_json: "diarized_json",
};

/** The call for a host's model. A format that the host cannot provide is rejected. */
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
  // Hosts report the length of a recording, except in plain responses to translations.
  const hostFormat = call.task === "translate" && formats.includes("verbose_json") ? "verbose_json" : needed;
  return { ...call, format: hostFormat, stream: stream && streams };
}
