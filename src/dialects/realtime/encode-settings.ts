import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { mergeExtras } from "../../canon/extras.ts";
import type { LiveSettingName, LiveSettings, LiveTranscription, LiveTurnDetection } from "../../canon/live.ts";
import type { Notes } from "../../canon/notes.ts";
import { effortOfBudget, type ReasoningRequest } from "../../canon/reasoning.ts";
import type { ModelTraits } from "../../canon/traits.ts";
import type { LiveQuirks } from "../live/quirks.ts";
import { voiceOf } from "../session/voices.ts";
import { encodeFormat } from "./audio-format.ts";
import { encodeDetection, encodeLimit, encodeTranscription } from "./settings.ts";
import { encodeToolChoice, encodeTools } from "./tools.ts";

interface SettingsScope {
  /** The client speaks this protocol too. */
  own: boolean;
  traits: ModelTraits;
  quirks: LiveQuirks;
  notes: Notes;
}

/** How long a silence ends speech, for clients that say only how eager the model is. The protocol's default is 500 ms. */
const SILENCE_OF_EAGERNESS = { high: 300, medium: 500, low: 800 } as const;

/** The settings for a host: of its session, or of one response. */
export function encodeSettings(settings: LiveSettings, scope: SettingsScope): JsonObject {
  const { own, notes } = scope;
  const path = (name: LiveSettingName) => settings.paths[name] ?? name;
  const { tools, toolChoice, modalities, temperature, reasoning, outputTranscription } = settings;
  if (temperature !== undefined && !own)
    notes.dropped(path("temperature"), "this protocol has no temperature any more");
  // Audio always comes with a transcript, and the client's protocol leaves it out if it is not wanted.
  const wanted = modalities?.includes("audio") === false ? "text" : "audio";
  if (outputTranscription !== undefined && wanted === "text")
    notes.dropped(path("outputTranscription"), "the answer has no audio");
  const session = withoutAbsent({
    output_modalities: modalities && [wanted],
    instructions: settings.instructions,
    temperature: own ? temperature : undefined,
    tools: tools && encodeTools(tools, own, notes),
    tool_choice: toolChoice && encodeToolChoice(toolChoice, path("toolChoice"), notes),
    parallel_tool_calls: settings.parallelTools,
    max_output_tokens: settings.maxOutputTokens === undefined ? undefined : encodeLimit(settings.maxOutputTokens),
    reasoning: reasoning && encodeReasoning(reasoning, scope),
    // The default of the protocol.
    truncation: settings.truncation === "disabled" || own ? settings.truncation : undefined,
    audio: encodeAudio(settings, scope, path),
  });
  // The path of the object in the client's event is not part of the object.
  return own
    ? mergeExtras(
        session,
        settings.extras.map(({ keys, value }) => ({ keys: stepsWithin(keys), value })),
      )
    : session;
}

const stepsWithin = (keys: readonly string[]): string[] => keys.flatMap((key) => key.split(".")).slice(1);

function encodeAudio(
  settings: LiveSettings,
  scope: SettingsScope,
  path: (name: LiveSettingName) => string,
): JsonObject | undefined {
  const { own } = scope;
  const { inputTranscription, turnDetection, inputFormat, outputFormat, voice, speed } = settings;
  const input = {
    // A client of another protocol has formats of its own, and the gateway converts them.
    ...(own && inputFormat !== undefined ? { format: encodeFormat(inputFormat) } : {}),
    ...(inputTranscription === undefined ? {} : { transcription: transcribe(inputTranscription, scope) }),
    ...(turnDetection === undefined ? {} : { turn_detection: detect(turnDetection, scope, path) }),
  };
  const output = {
    ...(own && outputFormat !== undefined ? { format: encodeFormat(outputFormat) } : {}),
    ...withoutAbsent({ voice: voice === undefined ? undefined : encodeVoice(voice, scope, path("voice")), speed }),
  };
  const audio = {
    ...(Object.keys(input).length === 0 ? {} : { input }),
    ...(Object.keys(output).length === 0 ? {} : { output }),
  };
  return Object.keys(audio).length === 0 ? undefined : audio;
}

function transcribe(transcription: LiveTranscription | null, { quirks }: SettingsScope): JsonObject | null {
  if (transcription === null) return null;
  return encodeTranscription({ ...transcription, model: transcription.model ?? quirks.transcriptionModel });
}

function detect(
  detection: LiveTurnDetection | null,
  { own, notes }: SettingsScope,
  path: (name: LiveSettingName) => string,
): JsonObject | null {
  if (detection === null) return null;
  const { eagerness, silenceMs, type } = detection;
  if (own || type === "semantic" || eagerness === undefined) return encodeDetection(detection);
  const silence = silenceMs ?? SILENCE_OF_EAGERNESS[eagerness];
  notes.approximated(path("turnDetection.eagerness"), `sent as a silence of ${silence} ms`);
  return encodeDetection({ ...detection, silenceMs: silence });
}

function encodeVoice(voice: string, { own, notes }: SettingsScope, path: string): string | undefined {
  if (own) return voice;
  const found = voiceOf("realtime", voice);
  if (found === undefined) notes.dropped(path, `this provider has no voice ${voice}`);
  else if (found !== voice) notes.approximated(path, `this provider has no voice ${voice}; ${found} is used instead`);
  return found;
}

function encodeReasoning(reasoning: ReasoningRequest, { own, traits, notes }: SettingsScope): JsonObject | undefined {
  const { amount, path } = reasoning;
  if (!own && !traits.reasoning) {
    if (amount !== undefined && amount !== "off") notes.dropped(path, "this model does not support thinking");
    return undefined;
  }
  if (amount === undefined || amount === "dynamic") return undefined;
  const effort = typeof amount === "string" ? amount : effortOfBudget(amount.budget);
  const sent = effort === "off" ? "minimal" : effort === "max" ? "xhigh" : effort;
  if (sent !== amount) notes.approximated(path, `this protocol accepts efforts; ${sent} is the nearest`);
  return { effort: sent };
}
