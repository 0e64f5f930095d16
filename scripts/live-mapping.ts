import { isObject, type JsonObject } from "../src/base/json.ts";
import type { FieldNote } from "../src/canon/receipt.ts";
import { liveOnRealtime, realtimeOnLive } from "../src/dialects/session/bridge.sample.ts";

export const LIVE_MAPPING_FILE = "docs/reference/live-mapping.md";

export type Side = "session" | "response" | "setup";

/** What the other protocol's host gets of a field. */
export interface LiveOutcome {
  side: Side;
  field: string;
  outcome: "exact" | "approximated" | "dropped" | "refused" | "gateway" | "lost";
  reason: string;
}

const SERVER_VAD = { type: "server_vad" };

/** A value for each field, by its path. `*` stands for what the SDKs declare below it. */
export const SAMPLES: Readonly<Record<Side, Readonly<Record<string, unknown>>>> = {
  session: {
    type: "realtime",
    model: "a/b",
    include: ["item.input_audio_transcription.logprobs"],
    instructions: "Be brief.",
    max_output_tokens: 100,
    output_modalities: ["text"],
    parallel_tool_calls: false,
    prompt: { id: "pmpt_1" },
    "reasoning.effort": "low",
    tool_choice: "required",
    tools: [{ type: "function", name: "look", parameters: { type: "object", properties: { at: { type: "string" } } } }],
    tracing: "auto",
    truncation: "disabled",
    "audio.input.format": { type: "audio/pcmu" },
    "audio.input.noise_reduction": { type: "near_field" },
    "audio.input.transcription.model": "whisper-1",
    "audio.input.transcription.language": "en",
    "audio.input.transcription.languages": ["en", "de"],
    "audio.input.transcription.prompt": "Names of trees.",
    "audio.input.transcription.delay": "low",
    "audio.input.transcription.keywords": ["oak"],
    "audio.input.turn_detection.type": "semantic_vad",
    "audio.input.turn_detection.create_response": false,
    "audio.input.turn_detection.interrupt_response": false,
    "audio.input.turn_detection.idle_timeout_ms": 6000,
    "audio.input.turn_detection.prefix_padding_ms": 200,
    "audio.input.turn_detection.silence_duration_ms": 700,
    "audio.input.turn_detection.threshold": 0.8,
    "audio.input.turn_detection.eagerness": "high",
    "audio.output.format": { type: "audio/pcma" },
    "audio.output.speed": 1.25,
    "audio.output.voice": "marin",
  },
  response: {
    "audio.output.format": { type: "audio/pcma" },
    "audio.output.voice": "marin",
    conversation: "none",
    input: [],
    instructions: "Greet the user.",
    max_output_tokens: 100,
    metadata: { mine: "1" },
    output_modalities: ["text"],
    parallel_tool_calls: false,
    prompt: { id: "pmpt_1" },
    "reasoning.effort": "low",
    tool_choice: "required",
    tools: [{ type: "function", name: "look" }],
  },
  setup: {
    model: "models/a/b",
    systemInstruction: { parts: [{ text: "Be brief." }] },
    tools: [{ functionDeclarations: [{ name: "look" }] }],
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    labels: { team: "a" },
    proactivity: { proactiveAudio: true },
    historyConfig: { initialHistoryInClientContent: true },
    explicitVadSignal: true,
    avatarConfig: { avatarName: "a" },
    "sessionResumption.handle": "h",
    "sessionResumption.transparent": true,
    "contextWindowCompression.triggerTokens": "1000",
    "contextWindowCompression.slidingWindow.targetTokens": "500",
    "inputAudioTranscription.languageCodes": ["en"],
    "inputAudioTranscription.languageAuto": {},
    "inputAudioTranscription.languageHints": { languageCodes: ["en"] },
    "inputAudioTranscription.customVocabulary": ["oak"],
    "inputAudioTranscription.adaptationPhrases": ["oak"],
    "inputAudioTranscription.wordTimestamp": true,
    "inputAudioTranscription.diarization": true,
    "inputAudioTranscription.mode": "STREAMING",
    "inputAudioTranscription.sourceText": "a",
    "outputAudioTranscription.languageCodes": ["en"],
    "outputAudioTranscription.languageAuto": {},
    "outputAudioTranscription.languageHints": { languageCodes: ["en"] },
    "outputAudioTranscription.customVocabulary": ["oak"],
    "outputAudioTranscription.adaptationPhrases": ["oak"],
    "outputAudioTranscription.wordTimestamp": true,
    "outputAudioTranscription.diarization": true,
    "outputAudioTranscription.mode": "STREAMING",
    "outputAudioTranscription.sourceText": "a",
    "realtimeInputConfig.activityHandling": "NO_INTERRUPTION",
    "realtimeInputConfig.turnCoverage": "TURN_INCLUDES_ALL_INPUT",
    "realtimeInputConfig.interimTranscriptTimestampEnabled": true,
    "realtimeInputConfig.automaticActivityDetection.disabled": true,
    "realtimeInputConfig.automaticActivityDetection.startOfSpeechSensitivity": "START_SENSITIVITY_LOW",
    "realtimeInputConfig.automaticActivityDetection.endOfSpeechSensitivity": "END_SENSITIVITY_HIGH",
    "realtimeInputConfig.automaticActivityDetection.prefixPaddingMs": 200,
    "realtimeInputConfig.automaticActivityDetection.silenceDurationMs": 700,
    "generationConfig.modelSelectionConfig": { featureSelectionPreference: "BALANCED" },
    "generationConfig.responseJsonSchema": { type: "object" },
    "generationConfig.audioTranscriptionConfig": { wordTimestamp: true },
    "generationConfig.audioTimestamp": true,
    "generationConfig.candidateCount": 2,
    "generationConfig.enableAffectiveDialog": true,
    "generationConfig.enableEnhancedCivicAnswers": true,
    "generationConfig.frequencyPenalty": 0.5,
    "generationConfig.logprobs": 2,
    "generationConfig.maxOutputTokens": 100,
    "generationConfig.mediaResolution": "MEDIA_RESOLUTION_LOW",
    "generationConfig.presencePenalty": 0.5,
    "generationConfig.responseFormat": [{ audio: {} }],
    "generationConfig.responseLogprobs": true,
    "generationConfig.responseMimeType": "application/json",
    "generationConfig.responseModalities": ["TEXT"],
    "generationConfig.responseSchema": { type: "OBJECT" },
    "generationConfig.routingConfig": { manualMode: { modelName: "a" } },
    "generationConfig.seed": 1,
    "generationConfig.stopSequences": ["a"],
    "generationConfig.temperature": 0.5,
    "generationConfig.topK": 3,
    "generationConfig.topP": 0.5,
    "generationConfig.translationConfig": { targetLanguageCode: "de" },
    "generationConfig.speechConfig.languageCode": "de-DE",
    "generationConfig.speechConfig.multiSpeakerVoiceConfig": { speakerVoiceConfigs: [] },
    "generationConfig.speechConfig.voiceConfig.replicatedVoiceConfig": { mimeType: "audio/wav" },
    "generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName": "Kore",
    "generationConfig.speechConfig.voiceConfig.voice": "Kore",
    "generationConfig.thinkingConfig.includeThoughts": true,
    "generationConfig.thinkingConfig.thinkingBudget": 2048,
    "generationConfig.thinkingConfig.thinkingLevel": "LOW",
  },
};

/** What the gateway does itself or reports elsewhere, so that the host gets nothing. */
const BY_THE_GATEWAY: Readonly<Record<Side, Readonly<Record<string, string>>>> = {
  session: {
    type: "the protocol has one other type, which is refused",
    model: "chosen when the session begins",
    "audio.input.format": "the gateway converts the audio",
    "audio.output.format": "the gateway converts the audio",
  },
  response: { metadata: "returned with the response" },
  setup: {
    model: "chosen when the session begins",
    "generationConfig.logprobs": "part of `responseLogprobs`, which is dropped",
  },
};

/** A field needs others beside it. */
function around(side: Side, field: string): JsonObject {
  if (side === "session" && field.startsWith("audio.input.turn_detection."))
    return nest("audio.input.turn_detection", field.endsWith("eagerness") ? { type: "semantic_vad" } : SERVER_VAD);
  if (side === "session" && field.startsWith("audio.input.transcription.") && !field.endsWith(".model"))
    return nest("audio.input.transcription", { model: "whisper-1" });
  if (side === "session" && (field === "tool_choice" || field === "parallel_tool_calls"))
    return { tools: SAMPLES.session["tools"] };
  if (side === "setup" && field.includes("AudioTranscription.")) return nest(field.slice(0, field.indexOf(".")), {});
  if (side === "setup" && field.startsWith("realtimeInputConfig.")) {
    const config = { automaticActivityDetection: {} };
    return { realtimeInputConfig: config };
  }
  if (side === "setup" && field === "generationConfig.logprobs")
    return nest("generationConfig", { responseLogprobs: true });
  return {};
}

function nest(path: string, value: unknown): JsonObject {
  const [first = "", ...rest] = path.split(".");
  return { [first]: rest.length === 0 ? value : nest(rest.join("."), value) };
}

function merge(one: JsonObject, other: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? merge(before, value) : value;
  }
  return merged;
}

interface Sent {
  /** What the host got, as text. */
  frames: string;
  notes: readonly FieldNote[];
  refused: string | undefined;
}

function send(side: Side, value: JsonObject): Sent {
  const bridge =
    side === "setup" ? liveOnRealtime(undefined, { reasoning: true, bare: true }) : realtimeOnLive({ reasoning: true });
  const led =
    side === "setup"
      ? [bridge.says({ setup: { model: "models/m", ...value } })]
      : side === "session"
        ? [
            bridge.says({ type: "session.update", session: { type: "realtime", ...value } }),
            bridge.says({ type: "response.create" }),
          ]
        : [bridge.says({ type: "response.create", response: value }), bridge.hears({ setupComplete: {} })];
  const error = led.flatMap(({ events }) => events).find(({ type }) => type === "error");
  return {
    frames: JSON.stringify(led.flatMap(({ toHost }) => toHost)),
    notes: bridge.notes,
    refused: error?.type === "error" ? error.error.message : undefined,
  };
}

export function liveOutcomes(): LiveOutcome[] {
  return (Object.keys(SAMPLES) as Side[]).flatMap((side) =>
    Object.entries(SAMPLES[side]).map(([field, value]) => outcomeOf(side, field, value)),
  );
}

function outcomeOf(side: Side, field: string, value: unknown): LiveOutcome {
  const beside = around(side, field);
  const plain = send(side, beside);
  const sent = send(side, merge(beside, nest(field, value)));
  const row = { side, field };
  if (sent.refused !== undefined) return { ...row, outcome: "refused", reason: sent.refused.replace(/\.$/, "") };
  const path = `${side}.${field}`;
  const isNew = (note: FieldNote) => !plain.notes.some((old) => old.path === note.path && old.reason === note.reason);
  const own = sent.notes
    .filter(isNew)
    .find(
      (note) =>
        note.path === path ||
        note.path.startsWith(`${path}.`) ||
        note.path.startsWith(`${path}[`) ||
        path.startsWith(`${note.path}.`),
    );
  if (own !== undefined) return { ...row, outcome: own.action, reason: own.reason };
  if (sent.frames !== plain.frames) return { ...row, outcome: "exact", reason: "" };
  const reason = BY_THE_GATEWAY[side][field];
  return reason === undefined ? { ...row, outcome: "lost", reason: "" } : { ...row, outcome: "gateway", reason };
}

const TITLES: Readonly<Record<Side, string>> = {
  session: "Realtime session on a Live host",
  response: "Realtime response on a Live host",
  setup: "Live setup on a Realtime host",
};

export function liveMappingDocument(outcomes: readonly LiveOutcome[] = liveOutcomes()): string {
  const tables = (Object.keys(TITLES) as Side[]).map((side) => {
    const rows = outcomes.filter((outcome) => outcome.side === side);
    const lines = rows.map(({ field, outcome, reason }) => `| \`${field}\` | ${outcome} | ${reason} |`);
    return `## ${TITLES[side]}\n\nPaths are below \`${side}\`.\n\n| field | outcome | reason |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `${HEAD}\n${tables.join("\n")}\n${EVENTS}`;
}

const HEAD = `# Fields between Realtime and Live

*Generated by \`bin/bun scripts/live-mapping.ts --write\` from the code; a test fails when it is out of date, or when an official SDK declares a field that is missing here.*

What happens to the settings of a client whose model is at a host of the other protocol:

- **exact**: the host gets the same setting in its protocol.
- **approximated**, **dropped**: the host gets something close to it, or nothing. The receipt of the next turn lists the field.
- **refused**: the client gets an error with the field's path.
- **gateway**: the gateway implements the field itself, or reports it with another one.
`;

const EVENTS = `## Events

| Realtime client | Live host |
|---|---|
| \`session.update\` | \`setup\`, sent with the first audio or response; later changes are refused, or \`contextUpdate\` where the host has it |
| \`input_audio_buffer.append\` | \`realtimeInput.audio\` at 16 kHz; without turn detection it is held until the response |
| \`input_audio_buffer.commit\` | with turn detection \`audioStreamEnd\`; without it, the audio is sent between \`activityStart\` and \`activityEnd\` at the response |
| \`input_audio_buffer.clear\` | drops held audio |
| \`conversation.item.create\` | \`clientContent\` at the next response, or before the next audio; results of calls are a \`toolResponse\` at the next response |
| \`conversation.item.delete\`, \`.retrieve\` | refused, except items that have not been sent |
| \`conversation.item.truncate\` | confirmed; the host knows what was played |
| \`response.create\` | \`turnComplete\` |
| \`response.cancel\` | an empty \`clientContent\`, which interrupts |

| Live client | Realtime host |
|---|---|
| \`setup\` | \`session.update\`; \`setupComplete\` follows \`session.updated\` |
| \`clientContent\` | \`conversation.item.create\` for each turn, then \`response.create\` if the turn is complete; a response in progress is cancelled first |
| \`realtimeInput.audio\`, \`.mediaChunks\` | \`input_audio_buffer.append\` at 24 kHz |
| \`realtimeInput.audioStreamEnd\` | silence, so that the host detects the end of speech |
| \`realtimeInput.activityStart\`, \`.activityEnd\` | \`response.cancel\` and \`.clear\`; \`input_audio_buffer.commit\` and \`response.create\` |
| \`realtimeInput.text\` | a message, then \`response.create\` |
| \`realtimeInput.video\` | the last frame before each turn, as an image |
| \`toolResponse\` | \`function_call_output\` items, then \`response.create\` once every call has a result |

| Live host | Realtime client |
|---|---|
| \`setupComplete\` | nothing: \`session.created\` and \`session.updated\` come from the gateway |
| \`serverContent.modelTurn\`, \`.outputTranscription\` | \`response.output_item.added\` and the events of one message with its audio, transcript or text |
| \`serverContent.inputTranscription\` | \`conversation.item.input_audio_transcription.delta\` and \`.completed\` |
| \`serverContent.interrupted\` | \`input_audio_buffer.speech_started\`; the response ends as \`cancelled\` |
| \`serverContent.turnComplete\` | \`response.done\` |
| \`toolCall\` | \`function_call\` items and \`response.done\` |
| \`toolCallCancellation\` | nothing; the results of these calls are ignored |
| \`usageMetadata\` | \`usage\` of \`response.done\` |
| \`goAway\`, \`sessionResumptionUpdate\` | nothing |

| Realtime host | Live client |
|---|---|
| \`session.updated\` | \`setupComplete\`, once |
| \`response.output_audio.delta\`, \`.output_text.delta\` | \`serverContent.modelTurn\` |
| \`response.output_audio_transcript.delta\` | \`serverContent.outputTranscription\`, if the setup asked for it |
| \`conversation.item.input_audio_transcription.*\` | \`serverContent.inputTranscription\`, if the setup asked for it |
| \`input_audio_buffer.speech_started\` while the model is heard | \`serverContent.interrupted\`; what was not played is truncated |
| \`response.output_item.done\` of calls | one \`toolCall\` when the response ends |
| \`response.done\` | \`generationComplete\` and \`turnComplete\` with \`usageMetadata\`; after calls only \`toolCall\` |
| \`error\` | \`{"error": …}\`, which SDKs ignore; before \`setupComplete\` the connection is closed |
`;

if (import.meta.main && process.argv.includes("--write")) {
  await Bun.write(new URL(`../${LIVE_MAPPING_FILE}`, import.meta.url), liveMappingDocument());
}
