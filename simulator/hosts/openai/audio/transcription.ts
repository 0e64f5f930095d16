import type { Exchange } from "../../../exchange.ts";
import type { JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import { playImmediateOutcome, takeTime } from "../../../media/play-outcome.ts";
import { StreamedAnswer } from "../../../media/streamed-answer.ts";
import { type FormPart, readForm } from "../../../read-form.ts";
import { listen } from "../../../voice/listen.ts";
import { immediateErrors } from "../immediate-errors.ts";
import { refuseUnknown } from "../request-fields.ts";
import { badValue, missing } from "../text/check.ts";
import { invalid, openaiError } from "../text/errors.ts";
import { type ListeningModel, listeningModel } from "./audio-models.ts";
import { diarizedOf, srtOf, type Transcript, transcriptOf, usageOf, verboseOf, vttOf } from "./transcript.ts";

const FIELDS = ["file", "model", "prompt", "response_format", "temperature"];
const TRANSCRIPTION_FIELDS = [
  ...FIELDS,
  "language",
  "languages[]",
  "keywords[]",
  "stream",
  "timestamp_granularities[]",
  "include[]",
  "chunking_strategy",
  "chunking_strategy[type]",
  "known_speaker_names[]",
  "known_speaker_references[]",
];
const MAX_FILE_BYTES = 25 * 1024 * 1024;
const EXTENSIONS = ["flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"];

class AudioForm {
  readonly #parts: readonly FormPart[];

  constructor(exchange: Exchange) {
    const parts = readForm(exchange.bodyBytes, exchange.headers.get("content-type") ?? "");
    if (parts === undefined) throw invalid("We could not parse the multipart form of your request.", null, null);
    this.#parts = parts;
  }

  get names(): string[] {
    return this.#parts.map(({ name }) => name);
  }

  text(name: string): string | undefined {
    return this.texts(name).at(0);
  }

  texts(name: string): string[] {
    return this.#parts
      .filter((part) => part.name === name && part.fileName === undefined)
      .map(({ bytes }) => bytes.toString());
  }

  /** The host goes by the file's name. */
  file(): Uint8Array {
    const part = this.#parts.find(({ name, fileName }) => name === "file" && fileName !== undefined);
    if (part === undefined) throw missing("file");
    const extension = part.fileName?.split(".").at(-1)?.toLowerCase() ?? "";
    if (!EXTENSIONS.includes(extension)) {
      throw invalid(`Unrecognized file format. Supported formats: ${JSON.stringify(EXTENSIONS)}`, "file", null);
    }
    if (part.bytes.length > MAX_FILE_BYTES) {
      throw openaiError(413, `Maximum content size limit (${MAX_FILE_BYTES}) exceeded.`);
    }
    if (part.bytes.length === 0)
      throw invalid("Audio file might be corrupted or unsupported.", "file", "invalid_value");
    return part.bytes;
  }
}

/**
 * `audio/transcriptions` and `audio/translations`: returns the text that `audio/speech` has spoken. A translation is the same,
 * because the simulator knows no languages.
 */
export async function answerTranscription(
  exchange: Exchange,
  key: string,
  task: Transcript["task"],
): Promise<Response> {
  const form = new AudioForm(exchange);
  const name = form.text("model");
  if (name === undefined) throw missing("model");
  exchange.countModel(name);
  const model = listeningModel(name, task === "translate");
  refuseUnknown(form.names, task === "translate" ? FIELDS : TRANSCRIPTION_FIELDS);
  const format = form.text("response_format") ?? "json";
  if (!model.formats.includes(format)) throw badValue(format, model.formats, "response_format");
  const granularities = form.texts("timestamp_granularities[]");
  if (granularities.length > 0 && format !== "verbose_json") {
    throw invalid(
      "Timestamp granularities need a 'response_format' of 'verbose_json'.",
      "timestamp_granularities",
      null,
    );
  }
  const transcript = transcriptOf(listen(form.file()), task);
  const outcome = chooseOutcome(transcript.text, 1, exchange, key);
  const blocked = openaiError(400, "The file was rejected by the safety system.", { code: "content_policy_violation" });
  const immediate = playImmediateOutcome(outcome, immediateErrors(name, blocked));
  if (immediate !== undefined) return immediate;
  await takeTime(outcome, exchange);
  const usage = usageOf(transcript, model.counts, form.text("prompt") ?? "");
  if (form.text("stream") === "true" && model.streams) {
    return new StreamedAnswer(exchange, "text/event-stream; charset=utf-8", eventsOf(transcript, format, usage));
  }
  return wholeAnswer(transcript, format, { granularities, usage, model });
}

interface Answering {
  granularities: readonly string[];
  usage: JsonObject;
  model: ListeningModel;
}

function wholeAnswer(transcript: Transcript, format: string, { granularities, usage }: Answering): Response {
  const { text, task } = transcript;
  const plain = (words: string): Response =>
    new Response(words, { headers: { "content-type": "text/plain; charset=utf-8" } });
  // What translations used is not in their answers.
  const used = task === "translate" ? {} : { usage };
  switch (format) {
    case "text":
      return plain(`${text}\n`);
    case "srt":
      return plain(srtOf(transcript));
    case "vtt":
      return plain(vttOf(transcript));
    case "verbose_json":
      return Response.json({ ...verboseOf(transcript, granularities), ...used });
    case "diarized_json":
      return Response.json({ ...diarizedOf(transcript), ...used });
    default:
      return Response.json({ text, ...used });
  }
}

const frame = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`;

async function* eventsOf(transcript: Transcript, format: string, usage: JsonObject): AsyncGenerator<string> {
  for (const delta of transcript.text.match(/\s*\S+|\s+$/g) ?? [])
    yield frame({ type: "transcript.text.delta", delta });
  if (format === "diarized_json") {
    for (const segment of diarizedOf(transcript).segments as JsonObject[]) yield frame(segment);
  }
  yield frame({ type: "transcript.text.done", text: transcript.text, usage });
}
