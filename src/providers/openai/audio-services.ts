import type { DeclaredAdapters } from "../../services/service-adapters.ts";
import type { TranscriptionCapabilities } from "../../services/transcription/transcription-adapter.ts";
import { openaiSpeech } from "./speech.ts";
import { openaiTranscriptions } from "./transcriptions.ts";

const isTokenModel = (model: string): boolean => model.startsWith("gpt-");

/** Of the vendor's own models only the oldest returns timestamps. */
function vendorTranscripts(model: string): TranscriptionCapabilities {
  if (model.includes("diarize")) return { formats: ["json", "diarized_json"], streams: true };
  return isTokenModel(model)
    ? { formats: ["json"], streams: true }
    : { formats: ["json", "verbose_json"], streams: false };
}

/** For unknown models everything is allowed; the host rejects what it does not support. */
const anyTranscripts = (): TranscriptionCapabilities => ({
  formats: ["json", "verbose_json", "diarized_json"],
  streams: true,
});

const any = (): boolean => true;

/** Those that only write down the speech of live sessions have no endpoint for files. */
const transcribes = (model: string): boolean =>
  /whisper|transcribe/.test(model) && !/^gpt-(realtime|live)-/.test(model);

/** Sound at the vendor's own models. */
export const OPENAI_AUDIO = {
  speech: [
    openaiSpeech({
      serves: (model) => model.includes("tts"),
      answersInEvents: isTokenModel,
      takesInstructions: isTokenModel,
    }),
  ],
  transcriptions: [
    openaiTranscriptions({
      serves: transcribes,
      capabilities: vendorTranscripts,
    }),
  ],
  translations: [
    openaiTranscriptions({
      serves: (model) => transcribes(model) && model.includes("whisper"),
      capabilities: vendorTranscripts,
    }),
  ],
} satisfies DeclaredAdapters;

/** The same API at hosts whose models have other names. */
export const COMPATIBLE_TRANSCRIPTIONS = [openaiTranscriptions({ serves: any, capabilities: anyTranscripts })];

export const COMPATIBLE_AUDIO = {
  speech: [openaiSpeech({ serves: any, answersInEvents: () => false, takesInstructions: any })],
  transcriptions: COMPATIBLE_TRANSCRIPTIONS,
  translations: COMPATIBLE_TRANSCRIPTIONS,
} satisfies DeclaredAdapters;
