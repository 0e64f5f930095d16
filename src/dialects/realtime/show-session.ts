import type { JsonObject } from "../../base/json.ts";
import type { LiveSettings } from "../../canon/live.ts";
import { Notes } from "../../canon/notes.ts";
import { DEFAULT_FORMAT, encodeBetaFormat, encodeFormat } from "./audio-format.ts";
import { encodeDetection, encodeLimit, encodeTranscription } from "./settings.ts";
import { encodeToolChoice, encodeTools } from "./tools.ts";

interface ShownSession {
  id: string;
  model: string;
  expiresAtSeconds: number;
  beta: boolean;
}

/** What holds in a session that does not say otherwise, as the protocol documents it. */
export const DEFAULT_SETTINGS: LiveSettings = {
  modalities: ["audio"],
  instructions: "",
  tools: [],
  toolChoice: { type: "auto" },
  maxOutputTokens: "unlimited",
  inputFormat: DEFAULT_FORMAT,
  outputFormat: DEFAULT_FORMAT,
  voice: "alloy",
  speed: 1,
  inputTranscription: null,
  turnDetection: {
    type: "server",
    threshold: 0.5,
    prefixPaddingMs: 300,
    silenceMs: 500,
    responds: true,
    interrupts: true,
  },
  truncation: "auto",
  paths: {},
  extras: [],
};

/** A session as clients see it: with every field, because their types promise most of them. */
export function showSession(settings: LiveSettings, shown: ShownSession): JsonObject {
  const { id, model, expiresAtSeconds, beta } = shown;
  const all = { ...DEFAULT_SETTINGS, ...settings };
  const notes = new Notes();
  const { inputFormat = DEFAULT_FORMAT, outputFormat = DEFAULT_FORMAT, turnDetection, inputTranscription } = all;
  const detection = turnDetection == null ? null : encodeDetection(turnDetection);
  const transcription = inputTranscription == null ? null : encodeTranscription(inputTranscription);
  const modalities = all.modalities?.includes("audio") === false ? ["text"] : ["audio"];
  const common = {
    object: "realtime.session",
    id,
    model,
    instructions: all.instructions,
    tools: encodeTools(all.tools ?? [], true, notes),
    tool_choice: encodeToolChoice(all.toolChoice ?? { type: "auto" }, "tool_choice", notes),
    tracing: null,
    prompt: null,
    expires_at: expiresAtSeconds,
    include: null,
  };
  const limit = encodeLimit(all.maxOutputTokens ?? "unlimited");
  if (beta) {
    return {
      ...common,
      modalities: modalities[0] === "audio" ? ["text", "audio"] : ["text"],
      voice: all.voice,
      speed: all.speed,
      temperature: all.temperature ?? 0.8,
      input_audio_format: encodeBetaFormat(inputFormat),
      output_audio_format: encodeBetaFormat(outputFormat),
      input_audio_transcription: transcription,
      input_audio_noise_reduction: null,
      turn_detection: detection,
      max_response_output_tokens: limit,
    };
  }
  return {
    type: "realtime",
    ...common,
    output_modalities: modalities,
    max_output_tokens: limit,
    ...(all.parallelTools === undefined ? {} : { parallel_tool_calls: all.parallelTools }),
    truncation: all.truncation,
    audio: {
      input: { format: encodeFormat(inputFormat), transcription, noise_reduction: null, turn_detection: detection },
      output: { format: encodeFormat(outputFormat), voice: all.voice, speed: all.speed },
    },
  };
}
