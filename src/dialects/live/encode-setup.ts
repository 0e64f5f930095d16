import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { type CanonCall, pathOfExtra, type Turn } from "../../canon/call.ts";
import { mergeExtras } from "../../canon/extras.ts";
import type { LiveSettingName, LiveSettings, LiveTurnDetection } from "../../canon/live.ts";
import type { Notes } from "../../canon/notes.ts";
import type { ModelTraits } from "../../canon/traits.ts";
import type { EncodeRequestContext } from "../codec.ts";
import { genaiCodec } from "../genai/codec.ts";
import { DEFAULT_GENAI_QUIRKS, type GenaiQuirks } from "../genai/quirks.ts";
import { FIELD_NAMES } from "../genai/request/field-names.ts";
import { voiceOf } from "../session/voices.ts";
import { modelResource } from "./model-resource.ts";

export interface SetupScope {
  /** The client speaks this protocol too. */
  own: boolean;
  upstreamModel: string;
  traits: ModelTraits;
  notes: Notes;
}

/** Live hosts know the vendor's own schema language. */
const QUIRKS: GenaiQuirks = { ...DEFAULT_GENAI_QUIRKS, jsonSchema: false };
const ORIGIN = "genai";

const ONLY_ELSEWHERE = "only its own protocol has this field, and this provider uses another one";

/** Within this distance of one half, a threshold is the usual one. */
const USUAL = 0.1;

export interface EncodedSetup {
  setup: JsonObject;
  /** The client's names of tools, by the names that were sent instead. */
  toolNames: Readonly<Record<string, string>>;
}

/** `setup`, the first message to a host. It has everything, because nothing else can be changed later. */
export function encodeSetup(settings: LiveSettings, scope: SetupScope): EncodedSetup {
  const { own, notes, upstreamModel } = scope;
  const path = (name: LiveSettingName) => settings.paths[name] ?? name;
  const { body, toolNames } = encodeShared(settings, scope);
  const { modalities, voice, speed } = settings;
  const isText = modalities?.includes("audio") === false;
  const speech = voice === undefined || isText ? undefined : encodeVoice(voice, scope, path("voice"));
  if (speed !== undefined && speed !== 1) notes.dropped(path("speed"), "this provider always speaks at the same speed");
  const generationConfig = {
    ...(body["generationConfig"] as JsonObject | undefined),
    responseModalities: [isText ? "TEXT" : "AUDIO"],
    ...(speech === undefined ? {} : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: speech } } } }),
  };
  const { inputTranscription } = settings;
  if (inputTranscription != null) noteTranscription(settings, scope);
  // A client of the other protocol always gets a transcript.
  const transcribes = settings.outputTranscription ?? !own;
  const input = encodeInputConfig(settings, scope);
  const setup = {
    model: modelResource(upstreamModel),
    generationConfig,
    ...withoutAbsent({
      systemInstruction: body["systemInstruction"],
      tools: body["tools"],
      realtimeInputConfig: input,
      inputAudioTranscription: inputTranscription == null ? undefined : {},
      outputAudioTranscription: transcribes && !isText ? {} : undefined,
      // Clients of the other protocol expect that a conversation never becomes too long.
      contextWindowCompression:
        (settings.truncation ?? (own ? "disabled" : "auto")) === "auto" ? { slidingWindow: {} } : undefined,
    }),
  };
  if (own)
    return {
      setup: mergeExtras(
        setup,
        settings.extras.map(({ keys, value }) => ({ keys: keys.slice(1), value })),
      ),
      toolNames,
    };
  for (const extra of settings.extras) notes.dropped(pathOfExtra(extra), ONLY_ELSEWHERE);
  return { setup, toolNames };
}

/** What a session may change, where the host can: instructions and tools. */
export function encodeContextUpdate(update: LiveSettings, scope: SetupScope): EncodedSetup {
  const { body, toolNames } = encodeShared(update, scope);
  const tools = update.tools === undefined ? undefined : { tools: body["tools"] ?? [] };
  return { setup: withoutAbsent({ systemInstruction: body["systemInstruction"], tools }), toolNames };
}

function encodeShared(
  settings: LiveSettings,
  scope: SetupScope,
): { body: JsonObject; toolNames: Record<string, string> } {
  const { own, notes } = scope;
  const { instructions, tools = [], toolChoice, maxOutputTokens, temperature, reasoning, parallelTools } = settings;
  const path = (name: LiveSettingName) => settings.paths[name] ?? name;
  const forbids = toolChoice?.type === "none" && tools.length > 0;
  if (forbids) notes.approximated(path("toolChoice"), "this provider cannot forbid calls; it gets no tools");
  else if (toolChoice !== undefined && toolChoice.type !== "auto")
    notes.dropped(
      path("toolChoice"),
      "in a live session of this provider the model always decides whether to call a tool",
    );
  const call: CanonCall = {
    ...callOf(scope, [BEGINNING]),
    system: instructions ? [{ type: "text", text: instructions, path: path("instructions") }] : [],
    tools: forbids ? [] : tools.filter((tool) => isSent(tool, scope)),
    ...withoutAbsent({
      temperature,
      maxOutputTokens: maxOutputTokens === "unlimited" ? undefined : maxOutputTokens,
      parallelTools,
      reasoning,
    }),
    paths: withoutAbsent({
      temperature: settings.paths.temperature,
      maxOutputTokens: settings.paths.maxOutputTokens,
      parallelTools: settings.paths.parallelTools,
    }),
  };
  const { body, notes: told, reading } = genaiCodec.encodeRequest(call, contextOf(scope));
  for (const note of told) notes[note.action](note.path, note.reason);
  if (own) return { body, toolNames: {} };
  return { body, toolNames: { ...reading.toolNames } };
}

/** A remote server's tools have not been seen in a live session. */
function isSent(tool: NonNullable<LiveSettings["tools"]>[number], { own, notes }: SetupScope): boolean {
  if (own || tool.type !== "native" || tool.means?.type !== "mcp") return true;
  notes.dropped(tool.path, "in a live session this provider does not call the tools of remote servers");
  return false;
}

/** A request begins with the user. What is said within a session need not, so that this is taken away again. */
const BEGINNING: Turn = { role: "user", parts: [{ type: "text", text: "." }], path: "" };

/** The turns of a conversation as `contents`. */
export function encodeTurns(turns: readonly Turn[], scope: SetupScope): readonly JsonObject[] {
  const { body, notes } = genaiCodec.encodeRequest(callOf(scope, [BEGINNING, ...turns]), contextOf(scope));
  for (const note of notes) scope.notes[note.action](note.path, note.reason);
  const [first, ...rest] = body["contents"] as readonly { role: string; parts: readonly JsonObject[] }[];
  const parts = first?.parts.slice(1) ?? [];
  return parts.length === 0 ? rest : [{ role: "user", parts }, ...rest];
}

const contextOf = ({ traits, upstreamModel }: SetupScope): EncodeRequestContext<GenaiQuirks> => ({
  upstreamModel,
  stream: true,
  traits,
  quirks: QUIRKS,
  origin: ORIGIN,
});

const callOf = ({ own }: SetupScope, turns: readonly Turn[]): CanonCall => ({
  dialect: own ? "genai" : "realtime",
  fieldNames: own ? FIELD_NAMES : {},
  system: [],
  turns,
  tools: [],
  paths: {},
  extras: [],
});

function encodeVoice(voice: string, { own, notes }: SetupScope, path: string): string | undefined {
  if (own) return voice;
  const found = voiceOf("live", voice);
  if (found === undefined) notes.dropped(path, `this provider has no voice ${voice}`);
  else if (found.toLowerCase() !== voice.toLowerCase())
    notes.approximated(path, `this provider has no voice ${voice}; ${found} is used instead`);
  return found;
}

/** The host transcribes by itself. */
function noteTranscription({ paths, inputTranscription }: LiveSettings, { own, notes }: SetupScope): void {
  if (own) return;
  for (const name of ["model", "languages", "prompt"] as const) {
    const path = paths[`inputTranscription.${name}`];
    if (path !== undefined && inputTranscription?.[name] !== undefined)
      notes.dropped(path, "this provider transcribes by itself and takes no hints");
  }
}

function encodeInputConfig(settings: LiveSettings, scope: SetupScope): JsonObject | undefined {
  const { turnDetection } = settings;
  if (turnDetection === undefined) return undefined;
  if (turnDetection === null) return { automaticActivityDetection: { disabled: true } };
  const { notes, own } = scope;
  const path = (name: keyof LiveTurnDetection) => settings.paths[`turnDetection.${name}`] ?? `turnDetection.${name}`;
  const { type, threshold, prefixPaddingMs, silenceMs, idleTimeoutMs, eagerness, responds, interrupts } = turnDetection;
  const handling = interrupts ? {} : { activityHandling: "NO_INTERRUPTION" };
  if (!responds) {
    const reason = "this provider answers whenever it detects the end of speech, so that detection is off";
    notes.approximated(path("responds"), reason);
    return { automaticActivityDetection: { disabled: true }, ...handling };
  }
  if (type === "semantic")
    notes.approximated(path("type"), "this provider does not say how it detects turns; its own detection is used");
  if (idleTimeoutMs !== undefined)
    notes.dropped(path("idleTimeoutMs"), "this provider's model does not speak by itself after a silence");
  const start =
    threshold === undefined || Math.abs(threshold - 0.5) < USUAL ? undefined : threshold < 0.5 ? "HIGH" : "LOW";
  if (!own && threshold !== undefined && threshold !== 0.5) {
    const sent = start === undefined ? "the usual sensitivity" : `the ${start.toLowerCase()} sensitivity`;
    notes.approximated(path("threshold"), `this provider has two sensitivities; sent as ${sent}`);
  }
  const end = eagerness === "high" ? "HIGH" : eagerness === "low" ? "LOW" : undefined;
  const detection = withoutAbsent({
    startOfSpeechSensitivity: start && `START_SENSITIVITY_${start}`,
    endOfSpeechSensitivity: end && `END_SENSITIVITY_${end}`,
    prefixPaddingMs: prefixPaddingMs === undefined ? undefined : Math.round(prefixPaddingMs),
    silenceDurationMs: silenceMs === undefined ? undefined : Math.round(silenceMs),
  });
  return { automaticActivityDetection: detection, ...handling };
}
