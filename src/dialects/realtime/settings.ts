import { isObject, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Extra } from "../../canon/call.ts";
import { Fields } from "../../canon/fields.ts";
import type {
  LiveAudioFormat,
  LiveModality,
  LiveSettingName,
  LiveSettings,
  LiveTranscription,
  LiveTurnDetection,
} from "../../canon/live.ts";
import type { Effort } from "../../canon/reasoning.ts";
import { refuse } from "../session/refuse.ts";
import { decodeFormat } from "./audio-format.ts";
import { decodeToolChoice, decodeTools } from "./tools.ts";

/** Fields that the host adds when it shows a session. */
const SHOWN = ["id", "object", "expires_at", "client_secret"];
const EFFORTS: readonly string[] = ["minimal", "low", "medium", "high", "xhigh"];
const NO_LIMIT = "inf";

type Paths = Partial<Record<LiveSettingName, string>>;
type Written = { -readonly [Name in keyof LiveSettings]?: LiveSettings[Name] };

/** Collects the settings of one session object, with their paths and what is left over. */
class SettingsReader {
  readonly settings: Written = {};
  readonly paths: Paths = {};
  readonly extras: Extra[] = [];

  set<Name extends keyof Written & LiveSettingName>(name: Name, path: string, value: Written[Name]): void {
    if (value === undefined) return;
    this.settings[name] = value;
    this.paths[name] = path;
  }

  rest(fields: Fields, keys: readonly string[]): void {
    for (const [key, value] of Object.entries(fields.rest() ?? {})) this.extras.push({ keys: [...keys, key], value });
  }
}

/**
 * The settings of a session or of one response, with the field names of either version of the protocol. `path` is where the object is in
 * the client's event.
 */
export function decodeSettings(raw: JsonObject, path: string): LiveSettings {
  const reader = new SettingsReader();
  const fields = new Fields(raw);
  const at = (name: string) => `${path}.${name}`;
  fields.skip(...SHOWN);
  if (raw["type"] === undefined || raw["type"] === "realtime") fields.skip("type");
  reader.set("model", at("model"), fields.string("model"));
  for (const name of ["output_modalities", "modalities"])
    reader.set("modalities", at(name), decodeModalities(fields.array(name), at(name)));
  reader.set("instructions", at("instructions"), fields.string("instructions"));
  reader.set("temperature", at("temperature"), fields.number("temperature"));
  for (const name of ["max_output_tokens", "max_response_output_tokens"])
    reader.set("maxOutputTokens", at(name), decodeLimit(fields, name));
  const tools = fields.array("tools");
  reader.set("tools", at("tools"), tools && decodeTools(tools, at("tools")));
  const choice = decodeToolChoice(raw["tool_choice"]);
  if (choice !== undefined) fields.skip("tool_choice");
  reader.set("toolChoice", at("tool_choice"), choice);
  reader.set("parallelTools", at("parallel_tool_calls"), fields.boolean("parallel_tool_calls"));
  readReasoning(fields, reader, path);
  const { truncation } = raw;
  if (truncation === "auto" || truncation === "disabled") {
    fields.skip("truncation");
    reader.set("truncation", at("truncation"), truncation);
  }
  readAudio(fields, reader, path);
  readBetaAudio(raw, fields, reader, path);
  reader.rest(fields, [path]);
  return { ...reader.settings, paths: reader.paths, extras: reader.extras };
}

function readReasoning(fields: Fields, reader: SettingsReader, path: string): void {
  const reasoning = new Fields(fields.object("reasoning"));
  const effort = reasoning.string("effort");
  const at = `${path}.reasoning.effort`;
  if (effort !== undefined && EFFORTS.includes(effort))
    reader.set("reasoning", at, { amount: effort as Effort, show: false, path: at });
  else if (effort !== undefined) reader.extras.push({ keys: [path, "reasoning", "effort"], value: effort });
  reader.rest(reasoning, [path, "reasoning"]);
}

function readAudio(fields: Fields, reader: SettingsReader, path: string): void {
  const audio = new Fields(fields.object("audio"));
  const raw = audio.object("input");
  const input = new Fields(raw);
  const inPath = `${path}.audio.input`;
  reader.set("inputFormat", `${inPath}.format`, formatAt(input, "format", inPath));
  readTranscription(raw, "transcription", input, reader, inPath);
  readDetection(raw, "turn_detection", input, reader, inPath);
  const output = new Fields(audio.object("output"));
  const outPath = `${path}.audio.output`;
  reader.set("outputFormat", `${outPath}.format`, formatAt(output, "format", outPath));
  reader.set("voice", `${outPath}.voice`, output.string("voice"));
  reader.set("speed", `${outPath}.speed`, output.number("speed"));
  reader.rest(input, [path, "audio", "input"]);
  reader.rest(output, [path, "audio", "output"]);
  reader.rest(audio, [path, "audio"]);
}

/** In the beta, the settings of audio are next to the others. */
function readBetaAudio(raw: JsonObject, fields: Fields, reader: SettingsReader, path: string): void {
  const at = (name: string) => `${path}.${name}`;
  reader.set("inputFormat", at("input_audio_format"), formatAt(fields, "input_audio_format", path));
  reader.set("outputFormat", at("output_audio_format"), formatAt(fields, "output_audio_format", path));
  reader.set("voice", at("voice"), fields.string("voice"));
  reader.set("speed", at("speed"), fields.number("speed"));
  readTranscription(raw, "input_audio_transcription", fields, reader, path);
  readDetection(raw, "turn_detection", fields, reader, path);
}

function formatAt(fields: Fields, name: string, path: string): LiveAudioFormat | undefined {
  const raw = fields.take(name);
  if (raw === undefined) return undefined;
  const format = decodeFormat(raw);
  if (format === undefined)
    refuse(`${path}.${name}`, "must be 24 kHz PCM (audio/pcm), audio/pcmu or audio/pcma. Send one of these.");
  return format;
}

function decodeModalities(raw: readonly unknown[] | undefined, path: string): readonly LiveModality[] | undefined {
  if (raw === undefined) return undefined;
  const known = raw.filter((one): one is LiveModality => one === "text" || one === "audio");
  if (known.length < raw.length || known.length === 0) refuse(path, 'must be ["audio"] or ["text"].');
  return known;
}

function decodeLimit(fields: Fields, name: string): number | "unlimited" | undefined {
  if (fields.peek(name) === NO_LIMIT) {
    fields.skip(name);
    return "unlimited";
  }
  return fields.number(name);
}

function readTranscription(
  raw: JsonObject | undefined,
  name: string,
  fields: Fields,
  reader: SettingsReader,
  path: string,
): void {
  const value = raw?.[name];
  if (value === undefined) return;
  const at = `${path}.${name}`;
  if (value === null) reader.set("inputTranscription", at, null);
  if (!isObject(value)) return;
  fields.skip(name);
  const inner = new Fields(value);
  const language = inner.string("language");
  const languages = inner.array("languages")?.filter((one) => typeof one === "string");
  const read: LiveTranscription = withoutAbsent({
    model: inner.string("model"),
    languages: languages ?? (language === undefined ? undefined : [language]),
    prompt: inner.string("prompt"),
  });
  reader.set("inputTranscription", at, read);
  if (read.model !== undefined) reader.paths["inputTranscription.model"] = `${at}.model`;
  if (read.languages !== undefined)
    reader.paths["inputTranscription.languages"] = `${at}.${languages === undefined ? "language" : "languages"}`;
  if (read.prompt !== undefined) reader.paths["inputTranscription.prompt"] = `${at}.prompt`;
  reader.rest(inner, [at]);
}

function readDetection(
  raw: JsonObject | undefined,
  name: string,
  fields: Fields,
  reader: SettingsReader,
  path: string,
): void {
  const value = raw?.[name];
  const at = `${path}.${name}`;
  if (value === undefined) return;
  if (value === null) {
    reader.set("turnDetection", at, null);
    return;
  }
  const inner = new Fields(value);
  const type = inner.string("type") ?? "server_vad";
  if (!isObject(value) || (type !== "server_vad" && type !== "semantic_vad"))
    refuse(`${at}.type`, "must be server_vad or semantic_vad.");
  fields.skip(name);
  const eagerness = inner.string("eagerness");
  const detection: LiveTurnDetection = withoutAbsent({
    type: type === "server_vad" ? ("server" as const) : ("semantic" as const),
    threshold: inner.number("threshold"),
    prefixPaddingMs: inner.number("prefix_padding_ms"),
    silenceMs: inner.number("silence_duration_ms"),
    idleTimeoutMs: inner.number("idle_timeout_ms"),
    // `auto` is the same as medium, and as nothing.
    eagerness: (["low", "medium", "high"] as const).find((one) => one === eagerness),
    responds: inner.boolean("create_response") ?? true,
    interrupts: inner.boolean("interrupt_response") ?? true,
  });
  reader.set("turnDetection", at, detection);
  for (const [member, field] of DETECTION_FIELDS) {
    if (isPresent(value, field)) reader.paths[`turnDetection.${member}`] = `${at}.${field}`;
  }
  reader.rest(inner, [at]);
}

const isPresent = (object: JsonObject, key: string): boolean => object[key] !== undefined && object[key] !== null;

const DETECTION_FIELDS = [
  ["type", "type"],
  ["threshold", "threshold"],
  ["prefixPaddingMs", "prefix_padding_ms"],
  ["silenceMs", "silence_duration_ms"],
  ["idleTimeoutMs", "idle_timeout_ms"],
  ["eagerness", "eagerness"],
  ["responds", "create_response"],
  ["interrupts", "interrupt_response"],
] as const satisfies readonly (readonly [keyof LiveTurnDetection, string])[];

export function encodeDetection(detection: LiveTurnDetection): JsonObject {
  const { type, threshold, prefixPaddingMs, silenceMs, idleTimeoutMs, eagerness, responds, interrupts } = detection;
  const ends = { create_response: responds, interrupt_response: interrupts };
  if (type === "semantic") return { type: "semantic_vad", ...withoutAbsent({ eagerness }), ...ends };
  return {
    type: "server_vad",
    ...withoutAbsent({
      threshold,
      prefix_padding_ms: prefixPaddingMs,
      silence_duration_ms: silenceMs,
      idle_timeout_ms: idleTimeoutMs,
    }),
    ...ends,
  };
}

export function encodeTranscription({ model, languages = [], prompt }: LiveTranscription): JsonObject {
  const [only] = languages;
  const spoken = languages.length > 1 ? { languages } : withoutAbsent({ language: only });
  return { ...withoutAbsent({ model, prompt }), ...spoken };
}

export const encodeLimit = (limit: number | "unlimited"): number | string => (limit === "unlimited" ? NO_LIMIT : limit);

/** Of an event that must have a session. */
export function sessionOf(event: JsonObject): JsonObject {
  return objectAt(event, "session") ?? refuse("session", "must be an object with the settings to change.");
}
