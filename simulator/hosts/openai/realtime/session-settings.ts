import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { Prompt, Tool } from "../../../text/prompt.ts";
import {
  badValue,
  missing,
  optionalBoolean,
  optionalEnum,
  optionalNumber,
  requireArray,
  requireObject,
  requireString,
  wrongType,
} from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { type AudioFormat, readFormat } from "./audio-format.ts";

/** How the host detects turns; null if the client reports them itself. */
export interface TurnDetection {
  shown: JsonObject;
  threshold: number;
  prefixMs: number;
  silenceMs: number;
  creates: boolean;
  interrupts: boolean;
}

/** What an answer is made with: of the session, or of one response. */
export interface AnswerSettings {
  instructions: string;
  modality: "audio" | "text";
  tools: Tool[];
  shownTools: Json[];
  toolChoice: Json;
  maxOutputTokens: number | "inf";
  outputFormat: AudioFormat;
  voice: Json;
  speed: number;
}

export interface SessionSettings extends AnswerSettings {
  inputFormat: AudioFormat;
  transcription: JsonObject | null;
  turnDetection: TurnDetection | null;
  /** Fields that do nothing here, as they were sent. */
  inert: JsonObject;
}

const SESSION_FIELDS = [
  ...["type", "model", "output_modalities", "instructions", "tools", "tool_choice", "max_output_tokens", "audio"],
  ...["include", "tracing", "truncation", "prompt", "parallel_tool_calls", "reasoning"],
];
const INERT_FIELDS = ["include", "tracing", "truncation", "prompt", "parallel_tool_calls", "reasoning"];
const RESPONSE_FIELDS = [
  ...["output_modalities", "instructions", "tools", "tool_choice", "max_output_tokens", "audio"],
  ...["conversation", "input", "metadata", "prompt", "parallel_tool_calls", "reasoning"],
];
const SERVER_VAD_FIELDS = ["type", "threshold", "prefix_padding_ms", "silence_duration_ms", "idle_timeout_ms"];
const SEMANTIC_VAD_FIELDS = ["type", "eagerness"];
const VAD_SWITCHES = ["create_response", "interrupt_response"];
/** What each eagerness waits for here. The real host looks at what was said, too. */
const EAGERNESS: Readonly<Record<string, number>> = { low: 1_200, medium: 600, auto: 600, high: 300 };
const MAX_OUTPUT_TOKENS = 4_096;
const DEFAULT_THRESHOLD = 0.5;
const DEFAULT_PREFIX_MS = 300;

export const DEFAULT_INSTRUCTIONS = "Answer in the language of the user, briefly. You are a simulator.";

export const defaultSettings = (): SessionSettings => ({
  instructions: DEFAULT_INSTRUCTIONS,
  modality: "audio",
  tools: [],
  shownTools: [],
  toolChoice: "auto",
  maxOutputTokens: "inf",
  outputFormat: readFormat({ type: "audio/pcm" }, ""),
  voice: "marin",
  speed: 1,
  inputFormat: readFormat({ type: "audio/pcm" }, ""),
  transcription: null,
  turnDetection: readTurnDetection({ type: "server_vad" }, ""),
  inert: { include: null, tracing: null, truncation: "auto", prompt: null },
});

/** The session as events show it. */
export function showSession(settings: SessionSettings, facts: JsonObject): JsonObject {
  const { inputFormat, outputFormat, transcription, turnDetection, voice, speed } = settings;
  return {
    type: "realtime",
    object: "realtime.session",
    ...facts,
    output_modalities: [settings.modality],
    instructions: settings.instructions,
    tools: settings.shownTools,
    tool_choice: settings.toolChoice,
    max_output_tokens: settings.maxOutputTokens,
    audio: {
      input: {
        format: inputFormat.shown,
        transcription,
        noise_reduction: settings.inert.noise_reduction ?? null,
        turn_detection: turnDetection?.shown ?? null,
      },
      output: { format: outputFormat.shown, voice, speed },
    },
    ...Object.fromEntries(Object.entries(settings.inert).filter(([name]) => name !== "noise_reduction")),
  };
}

function refuseFields(holder: JsonObject, known: readonly string[], param: string): void {
  const unknown = Object.keys(holder).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalid(`Unknown parameter: '${param}.${unknown}'.`, `${param}.${unknown}`, "unknown_parameter");
}

const isSet = (value: Json | undefined): value is Json => value !== undefined;

/** What `session.update` changes; throws what the host refuses. `model` cannot be changed, nor `voice` once it was heard. */
export function updateSettings(
  before: SessionSettings,
  session: JsonObject,
  { model, hasSpoken }: { model: string; hasSpoken: boolean },
): SessionSettings {
  const param = "session";
  if (session.type === undefined) throw missing("session.type");
  if (session.type !== "realtime") throw badValue(session.type, ["realtime"], "session.type");
  refuseFields(session, SESSION_FIELDS, param);
  if (session.model !== undefined && session.model !== model)
    throw invalid("Cannot update a session's model.", "session.model", "cannot_update_model");
  const after: SessionSettings = { ...before, ...readAnswerFields(before, session, param) };
  for (const name of INERT_FIELDS) {
    const value = session[name];
    if (isSet(value)) after.inert = { ...after.inert, [name]: value };
  }
  const audio = session.audio === undefined ? {} : requireObject(session.audio, "session.audio");
  refuseFields(audio, ["input", "output"], "session.audio");
  if (audio.input !== undefined) readInput(after, requireObject(audio.input, "session.audio.input"));
  if (hasSpoken && JSON.stringify(after.voice) !== JSON.stringify(before.voice)) {
    const message = "Cannot update a conversation's voice if assistant audio is present.";
    throw invalid(message, "session.audio.output.voice", "cannot_update_voice");
  }
  return after;
}

function readInput(settings: SessionSettings, input: JsonObject): void {
  const param = "session.audio.input";
  refuseFields(input, ["format", "noise_reduction", "transcription", "turn_detection"], param);
  if (isSet(input.format)) settings.inputFormat = readFormat(input.format, `${param}.format`);
  if (isSet(input.noise_reduction)) settings.inert = { ...settings.inert, noise_reduction: input.noise_reduction };
  if (isSet(input.transcription))
    settings.transcription =
      input.transcription === null ? null : requireObject(input.transcription, `${param}.transcription`);
  if (isSet(input.turn_detection))
    settings.turnDetection =
      input.turn_detection === null
        ? null
        : readTurnDetection(requireObject(input.turn_detection, `${param}.turn_detection`), `${param}.turn_detection`);
}

function readTurnDetection(value: JsonObject, param: string): TurnDetection {
  const type = requireString(value.type, `${param}.type`);
  if (type !== "server_vad" && type !== "semantic_vad")
    throw badValue(type, ["server_vad", "semantic_vad"], `${param}.type`);
  const creates = optionalBoolean(value, "create_response") ?? true;
  const interrupts = optionalBoolean(value, "interrupt_response") ?? true;
  const switches = { create_response: creates, interrupt_response: interrupts };
  if (type === "semantic_vad") {
    refuseFields(value, [...SEMANTIC_VAD_FIELDS, ...VAD_SWITCHES], param);
    const eagerness = optionalEnum(value, "eagerness", Object.keys(EAGERNESS)) ?? "auto";
    const silenceMs = EAGERNESS[eagerness] ?? 0;
    const rest = { threshold: DEFAULT_THRESHOLD, prefixMs: DEFAULT_PREFIX_MS, silenceMs, creates, interrupts };
    return { shown: { type, eagerness, ...switches }, ...rest };
  }
  refuseFields(value, [...SERVER_VAD_FIELDS, ...VAD_SWITCHES], param);
  const threshold = optionalNumber(value, "threshold", [0, 1]) ?? DEFAULT_THRESHOLD;
  const prefixMs = optionalNumber(value, "prefix_padding_ms", [0, 10_000], true) ?? DEFAULT_PREFIX_MS;
  const silenceMs = optionalNumber(value, "silence_duration_ms", [10, 10_000], true) ?? 500;
  const idle = optionalNumber(value, "idle_timeout_ms", [5_000, 30_000], true) ?? null;
  const durations = { prefix_padding_ms: prefixMs, silence_duration_ms: silenceMs, idle_timeout_ms: idle };
  return { shown: { type, threshold, ...durations, ...switches }, threshold, prefixMs, silenceMs, creates, interrupts };
}

/** The settings of one response: those of the session, with what `response.create` says. */
export function readResponseSettings(session: AnswerSettings, response: JsonObject): AnswerSettings {
  refuseFields(response, RESPONSE_FIELDS, "response");
  return { ...session, ...readAnswerFields(session, response, "response") };
}

function readAnswerFields(before: AnswerSettings, value: JsonObject, param: string): AnswerSettings {
  const after = { ...before };
  if (isSet(value.instructions)) after.instructions = requireString(value.instructions, `${param}.instructions`);
  if (isSet(value.output_modalities)) after.modality = readModality(value.output_modalities, param);
  if (isSet(value.max_output_tokens)) after.maxOutputTokens = readMaxTokens(value.max_output_tokens, param);
  if (isSet(value.tools)) {
    after.shownTools = requireArray(value.tools, `${param}.tools`);
    after.tools = after.shownTools.map((tool, at) => readTool(tool, `${param}.tools[${at}]`));
  }
  if (isSet(value.tool_choice)) after.toolChoice = value.tool_choice;
  readChoice(after.toolChoice, after.tools, param);
  if (!isObject(value.audio) || value.audio.output === undefined) return after;
  const output = requireObject(value.audio.output, `${param}.audio.output`);
  const fields = param === "session" ? ["format", "speed", "voice"] : ["format", "voice"];
  refuseFields(output, fields, `${param}.audio.output`);
  if (isSet(output.format)) after.outputFormat = readFormat(output.format, `${param}.audio.output.format`);
  after.speed = optionalNumber(output, "speed", [0.25, 1.5]) ?? after.speed;
  if (isSet(output.voice)) after.voice = readVoice(output.voice, `${param}.audio.output.voice`);
  return after;
}

function readVoice(value: Json, param: string): Json {
  if (typeof value === "string" && value !== "") return value;
  if (isObject(value)) return { id: requireString(value.id, `${param}.id`) };
  throw wrongType(value, "one of a string or object", param);
}

function readModality(value: Json, param: string): "audio" | "text" {
  const given = requireArray(value, `${param}.output_modalities`);
  const [only] = given;
  if (given.length === 1 && (only === "audio" || only === "text")) return only;
  throw invalid(
    `Invalid modalities: ${JSON.stringify(given)}. Supported combinations are: ['text'] and ['audio'].`,
    `${param}.output_modalities`,
    "invalid_value",
  );
}

function readMaxTokens(value: Json, param: string): number | "inf" {
  if (value === "inf") return value;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_OUTPUT_TOKENS) return value;
  throw invalid(
    `Invalid '${param}.max_output_tokens': expected an integer from 1 to ${MAX_OUTPUT_TOKENS}, or 'inf'.`,
    `${param}.max_output_tokens`,
    "invalid_value",
  );
}

function readTool(value: Json, param: string): Tool {
  const tool = requireObject(value, param);
  if (tool.type !== "function") throw badValue(tool.type ?? "", ["function"], `${param}.type`);
  refuseFields(tool, ["type", "name", "description", "parameters"], param);
  const name = requireString(tool.name, `${param}.name`);
  const schema = tool.parameters === undefined ? undefined : requireObject(tool.parameters, `${param}.parameters`);
  const description = typeof tool.description === "string" ? tool.description : "";
  return { name, description, schema, freeform: false };
}

export function readChoice(value: Json, tools: readonly Tool[], param: string): Prompt["choice"] {
  if (value === "auto") return { mode: "auto" };
  if (value === "none" || value === "required") return { mode: value };
  if (!isObject(value) || value.type !== "function")
    throw badValue(
      isObject(value) ? (value.type ?? "") : value,
      ["auto", "none", "required", "function"],
      `${param}.tool_choice`,
    );
  const name = requireString(value.name, `${param}.tool_choice.name`);
  if (!tools.some((tool) => tool.name === name))
    throw invalid(`Tool choice '${name}' not found in 'tools'.`, `${param}.tool_choice`, "invalid_value");
  return { mode: "required", names: [name] };
}
