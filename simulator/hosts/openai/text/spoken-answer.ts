import type { JsonObject } from "../../../json.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import { speak } from "../../../voice/speak.ts";
import { SPEECH_RATE } from "../../../voice/tones.ts";
import { writeWav } from "../../../voice/wav.ts";
import { optionalEnum, requireObject, requireString } from "./check.ts";
import { invalid } from "./errors.ts";

const SAMPLES_PER_TOKEN = 1_200;
const KEPT_SECONDS = 3_600;
const CHUNK_BYTES = 12_000;

/** How a response is spoken. */
export interface SpokenForm {
  voice: string;
  format: "wav" | "pcm16";
}

/** The request in `modalities` and `audio`; undefined for text only. */
export function readSpokenForm(body: JsonObject, model: SimulatedModel): SpokenForm | undefined {
  const { modalities } = body;
  if (!Array.isArray(modalities) || !modalities.includes("audio")) return undefined;
  if (!model.facts.outputModalities.includes("audio")) {
    throw invalid("This model does not support the requested output modality 'audio'.", "modalities", "invalid_value");
  }
  const audio = requireObject(body.audio, "audio");
  const voice = requireString(audio.voice, "audio.voice");
  const format = optionalEnum(audio, "format", ["wav", "pcm16"]) ?? "wav";
  if (body.stream === true && format !== "pcm16") {
    throw invalid(
      "Unsupported value: 'audio.format' must be 'pcm16' when stream=true.",
      "audio.format",
      "unsupported_value",
    );
  }
  return { voice, format: format === "pcm16" ? "pcm16" : "wav" };
}

/** A spoken response: its audio and token count. */
export class SpokenAnswer {
  readonly sound: Uint8Array;
  readonly tokens: number;

  constructor(
    readonly text: string,
    { voice, format }: SpokenForm,
    readonly id: string,
    readonly createdSeconds: number,
  ) {
    const samples = speak(text, { voice, speed: 1 });
    this.sound = format === "wav" ? writeWav(samples, SPEECH_RATE) : samples;
    this.tokens = Math.ceil(samples.length / 2 / SAMPLES_PER_TOKEN);
  }

  get expiresAt(): number {
    return this.createdSeconds + KEPT_SECONDS;
  }

  whole(): JsonObject {
    const { id, text: transcript, expiresAt: expires_at } = this;
    return { id, data: Buffer.from(this.sound).toString("base64"), expires_at, transcript };
  }

  /** The sound in parts, as base64. */
  *parts(): Generator<string> {
    for (let at = 0; at < this.sound.length; at += CHUNK_BYTES) {
      yield Buffer.from(this.sound.subarray(at, at + CHUNK_BYTES)).toString("base64");
    }
  }
}
