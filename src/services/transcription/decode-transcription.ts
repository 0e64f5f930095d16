import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { splitForm } from "../../media/images-api/split-form.ts";
import type { Form, FormEntry } from "../../wire/read-multipart.ts";
import { isSent, notesOnOtherModels } from "../without-routing.ts";
import { checkTranscription, checkTranslation } from "./schema.ts";
import type { Recording, TranscriptionRequest, TranscriptionTask } from "./transcription-call.ts";

const LISTS = ["timestamp_granularities"];
const NUMBERS = ["temperature"];
const SWITCHES = ["stream"];
const TEXTS = ["model", "prompt", "language", "response_format"];

/** Some clients send no file name, but hosts use its extension. */
const UNNAMED = "recording.wav";

/** Reads and checks the form of `audio/transcriptions` or `audio/translations`. The host judges other fields. */
export function decodeTranscription(form: Form, task: TranscriptionTask): TranscriptionRequest {
  const { routing, rest } = splitForm(form);
  const known = task === "translate" ? TRANSLATION_FIELDS : TRANSCRIPTION_FIELDS;
  const fields: Record<string, unknown> = {};
  const extras: { name: string; value: string }[] = [];
  let file: Recording | undefined;
  for (const entry of rest) {
    const { name } = entry;
    if (name === "file") {
      if (file !== undefined) refuse("file", "is given more than once; send one recording per request");
      file = recordingOf(entry);
    } else if ("bytes" in entry) refuse(name, "must be text; it is a file");
    else if (known.has(bare(name))) put(fields, bare(name), entry.value);
    else extras.push({ name, value: entry.value });
  }
  const others = Object.fromEntries(extras.map(({ name, value }) => [baseOf(name), value]));
  const { model, prompt, temperature, response_format: format, ...own } = checked({ ...others, ...fields }, task);
  if (file === undefined) refuse("file", "is missing; it must be an audio file");
  if (file.bytes.length === 0) refuse("file", "is empty");
  return {
    model,
    format: format ?? "json",
    stream: own.stream ?? false,
    routing,
    notes: notesOnOtherModels(others),
    call: withoutAbsent({
      task,
      file,
      prompt,
      temperature,
      language: own.language,
      granularities: own.timestamp_granularities ?? [],
      extras: extras.filter(({ name }) => isSent(baseOf(name))),
    }),
  };
}

/** `fallbacks[0][model]` is a member of `fallbacks`. */
const baseOf = (name: string): string => name.split("[", 1)[0] ?? name;

const TRANSCRIPTION_FIELDS: ReadonlySet<string> = new Set([...LISTS, ...NUMBERS, ...SWITCHES, ...TEXTS]);
/** `stream` and `language` are not among its fields, but a host may support them. */
const TRANSLATION_FIELDS: ReadonlySet<string> = new Set(["model", "prompt", "temperature", "response_format"]);

type Checked = ReturnType<typeof checkTranscription>;

const checked = (fields: JsonObject, task: TranscriptionTask): Checked =>
  task === "translate" ? checkTranslation(fields) : checkTranscription(fields);

/** Lists are written as `name[]`. */
const bare = (name: string): string => name.replace(/\[\]$/, "");

function put(fields: Record<string, unknown>, name: string, value: string): void {
  if (LISTS.includes(name)) {
    const list = fields[name];
    fields[name] = Array.isArray(list) ? [...(list as unknown[]), value] : [value];
    return;
  }
  if (fields[name] !== undefined) refuse(name, "is given more than once");
  fields[name] = typed(name, value);
}

/** Forms contain only text. The schema check reports a value of the wrong type. */
function typed(name: string, value: string): unknown {
  if (SWITCHES.includes(name) && (value === "true" || value === "false")) return value === "true";
  return NUMBERS.includes(name) && /^-?\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
}

function recordingOf(entry: FormEntry): Recording {
  if (!("bytes" in entry)) return refuse("file", "must be an audio file; it is text");
  const { fileName, mimeType, bytes } = entry;
  return { fileName: fileName === undefined || fileName === "" ? UNNAMED : fileName, mimeType, bytes };
}
