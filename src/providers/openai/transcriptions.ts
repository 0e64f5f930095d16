// https://platform.openai.com/docs/api-reference/audio/createTranscription

import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt, type Usage } from "../../canon/usage.ts";
import { decodeErrorObject } from "../../dialects/answer/error-object.ts";
import type { FormPart, MediaAnswer } from "../../media/adapter.ts";
import type { Transcript, TranscriptEvent, TranscriptSegment } from "../../services/transcription/transcript.ts";
import type {
  TranscriptionAdapter,
  TranscriptionCapabilities,
} from "../../services/transcription/transcription-adapter.ts";
import type { FittedTranscription } from "../../services/transcription/transcription-call.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { OPENAI_CODES } from "./errors.ts";

/** More than any recording lasts. */
const MAX_SECONDS = 10_000_000;

/** Differences between hosts of this API. */
interface TranscriptionHost {
  serves: (model: string) => boolean;
  capabilities: (model: string) => TranscriptionCapabilities;
}

export const openaiTranscriptions = ({ serves, capabilities }: TranscriptionHost): TranscriptionAdapter => ({
  serves,
  goesOn: true,
  capabilities,
  submit: (call, { model }) => ({
    method: "POST",
    url: call.task === "translate" ? "/audio/translations" : "/audio/transcriptions",
    headers: { accept: call.stream ? "text/event-stream" : "application/json" },
    body: { form: partsOf(call, model) },
  }),
  read: readTranscript,
  readEvent,
  error: (answer) => mediaFailure(answer, OPENAI_CODES),
});

function partsOf(call: FittedTranscription, model: string): FormPart[] {
  const { file, format, stream, language, prompt, temperature, granularities, extras } = call;
  const part = (name: string, value: string | undefined): FormPart[] => (value === undefined ? [] : [{ name, value }]);
  return [
    { name: "model", value: model },
    { name: "response_format", value: format },
    ...part("stream", stream ? "true" : undefined),
    ...part("language", language),
    ...part("prompt", prompt),
    ...part("temperature", temperature?.toString()),
    ...granularities.map((value) => ({ name: "timestamp_granularities[]", value })),
    ...extras,
    { name: "file", ...file },
  ];
}

function readTranscript({ body }: MediaAnswer): Transcript {
  const text = stringAt(body, "text");
  if (body === undefined || text === undefined) throw emptyAnswer("a transcript");
  const seconds = secondsAt(body, "duration");
  const segments = arrayAt(body, "segments").flatMap(readSegment);
  const usage = usageOf(objectAt(body, "usage")) ?? (seconds === undefined ? undefined : { seconds });
  return {
    text,
    raw: body,
    ...withoutAbsent({ seconds }),
    ...(segments.length === 0 ? {} : { segments }),
    ...withoutAbsent({ usage }),
  };
}

function readSegment(value: unknown): TranscriptSegment[] {
  const [text, start, end] = [stringAt(value, "text"), numberAt(value, "start"), numberAt(value, "end")];
  return text === undefined || start === undefined || end === undefined ? [] : [{ text, start, end }];
}

/** By tokens, by the time, or by both. */
function usageOf(raw: JsonObject | undefined): Usage | undefined {
  const input = countAt(raw, "input_tokens") ?? countAt(raw, "prompt_tokens");
  const output = countAt(raw, "output_tokens") ?? countAt(raw, "completion_tokens");
  const seconds = secondsAt(raw, "seconds") ?? secondsAt(raw, "prompt_audio_seconds");
  const sound = Math.min(countAt(objectAt(raw, "input_token_details"), "audio_tokens") ?? input ?? 0, input ?? 0);
  const usage: Usage = {
    ...(input === undefined ? {} : { input: input - sound, audioInput: sound }),
    ...withoutAbsent({ output, seconds }),
  };
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** Some hosts write it as a text. */
function secondsAt(holder: unknown, key: string): number | undefined {
  const seconds = numberAt(holder, key) ?? Number(stringAt(holder, key) ?? Number.NaN);
  return seconds >= 0 && seconds < MAX_SECONDS ? seconds : undefined;
}

function readEvent(event: JsonObject): TranscriptEvent | undefined {
  if (isObject(event["error"]) || event["type"] === "error") throw decodeErrorObject(event, 200);
  if (event["type"] !== "transcript.text.done") return { event };
  const usage = usageOf(objectAt(event, "usage"));
  return { event, done: { text: stringAt(event, "text") ?? "", ...withoutAbsent({ usage }) } };
}
