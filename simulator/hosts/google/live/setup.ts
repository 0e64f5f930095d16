import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { ActivitySettings } from "../../../live/voice-activity.ts";
import { names } from "../../../names.ts";
import type { Prompt, Tool } from "../../../text/prompt.ts";
import { type GoogleHost, invalidValue } from "../text/errors.ts";
import { refuseUnknown } from "../text/proto-json.ts";
import { readSystem, readTools } from "../text/read-request.ts";
import { INVALID, Refusal } from "./refusal.ts";

/** The configuration of a session. */
export interface Setup {
  modality: "AUDIO" | "TEXT";
  voice: string;
  maxOutputTokens: number;
  system: Prompt["system"];
  tools: Tool[];
  /** Undefined where the client marks activity itself. */
  activity: ActivitySettings | undefined;
  interrupts: boolean;
  inputTranscription: boolean;
  outputTranscription: boolean;
  /** The handle to resume; empty for a new session that may be resumed; undefined where it may not. */
  resumption: string | undefined;
  /** Resumption updates count the messages of the client. */
  isTransparent: boolean;
}

const SHARED = `model generationConfig systemInstruction tools realtimeInputConfig sessionResumption contextWindowCompression
  inputAudioTranscription outputAudioTranscription proactivity historyConfig avatarConfig safetySettings labels`;
const FIELDS = { gemini: names(SHARED), vertex: names(`${SHARED} explicitVadSignal`) } as const;
const GENERATION = names(
  `temperature topP topK candidateCount maxOutputTokens presencePenalty frequencyPenalty seed responseModalities speechConfig
  thinkingConfig enableAffectiveDialog mediaResolution translationConfig`,
);
const INPUT = names("automaticActivityDetection activityHandling turnCoverage interimTranscriptTimestampEnabled");
const DETECTION = names("disabled startOfSpeechSensitivity endOfSpeechSensitivity prefixPaddingMs silenceDurationMs");
const RESUMPTION = names("handle transparent");

const ONSET_MS = 40;
const SILENCE_MS: Readonly<Record<string, number>> = { END_SENSITIVITY_HIGH: 300, END_SENSITIVITY_LOW: 800 };
const THRESHOLDS: Readonly<Record<string, number>> = { START_SENSITIVITY_HIGH: 0.3, START_SENSITIVITY_LOW: 0.8 };
const DEFAULT_SILENCE_MS = 500;
const DEFAULT_THRESHOLD = 0.5;
const DEFAULT_VOICE = "Puck";
const MAX_OUTPUT_TOKENS = 8_192;

function member(holder: JsonObject, name: string, path: string): JsonObject | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalidValue(path, "message", value);
  return value;
}

export function readSetup(setup: JsonObject, host: GoogleHost): Setup {
  refuseUnknown(setup, FIELDS[host], "setup");
  const generation = member(setup, "generationConfig", "setup.generationConfig") ?? {};
  refuseUnknown(generation, GENERATION, "setup.generationConfig");
  const resumption = member(setup, "sessionResumption", "setup.sessionResumption");
  if (resumption !== undefined) refuseUnknown(resumption, RESUMPTION, "setup.sessionResumption");
  const isTransparent = resumption?.transparent === true;
  if (isTransparent && host === "gemini")
    throw new Refusal(INVALID, "transparent session resumption is not supported in Gemini API.");
  const input = member(setup, "realtimeInputConfig", "setup.realtimeInputConfig") ?? {};
  refuseUnknown(input, INPUT, "setup.realtimeInputConfig");
  return {
    modality: readModality(generation.responseModalities),
    voice: readVoice(generation),
    maxOutputTokens: wholeNumber(generation, "maxOutputTokens", "setup.generationConfig") ?? MAX_OUTPUT_TOKENS,
    system: readSystem(setup.systemInstruction),
    tools: readTools(setup.tools, host).tools,
    activity: readActivity(input),
    interrupts: input.activityHandling !== "NO_INTERRUPTION",
    inputTranscription: isObject(setup.inputAudioTranscription),
    outputTranscription: isObject(setup.outputAudioTranscription),
    resumption: resumption === undefined ? undefined : String(resumption.handle ?? ""),
    isTransparent,
  };
}

function readModality(value: Json | undefined): Setup["modality"] {
  if (value === undefined || value === null) return "AUDIO";
  const [only, ...others] = Array.isArray(value) ? value : [value];
  if (others.length === 0 && (only === "AUDIO" || only === "TEXT")) return only;
  throw new Refusal(INVALID, "Request contains an invalid argument.");
}

function readVoice(generation: JsonObject): string {
  const speech = member(generation, "speechConfig", "setup.generationConfig.speechConfig");
  const voice = isObject(speech?.voiceConfig) ? speech.voiceConfig : {};
  const prebuilt = isObject(voice.prebuiltVoiceConfig) ? voice.prebuiltVoiceConfig : {};
  return typeof prebuilt.voiceName === "string" ? prebuilt.voiceName : DEFAULT_VOICE;
}

function wholeNumber(holder: JsonObject, name: string, path: string): number | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw invalidValue(`${path}.${name}`, "TYPE_INT32", value);
  return value;
}

function readActivity(input: JsonObject): ActivitySettings | undefined {
  const path = "setup.realtimeInputConfig.automaticActivityDetection";
  const detection = member(input, "automaticActivityDetection", path) ?? {};
  refuseUnknown(detection, DETECTION, path);
  if (detection.disabled === true) return undefined;
  return {
    threshold: THRESHOLDS[String(detection.startOfSpeechSensitivity)] ?? DEFAULT_THRESHOLD,
    onsetMs: wholeNumber(detection, "prefixPaddingMs", path) ?? ONSET_MS,
    silenceMs:
      wholeNumber(detection, "silenceDurationMs", path) ??
      SILENCE_MS[String(detection.endOfSpeechSensitivity)] ??
      DEFAULT_SILENCE_MS,
  };
}
