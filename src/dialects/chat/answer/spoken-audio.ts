import { type JsonObject, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { NativePart } from "../../../canon/part.ts";
import { audioPart } from "../audio-part.ts";

/** How many characters of audio are buffered per answer. Far above any legitimate answer. */
const MAX_HELD = 64 * 1024 * 1024;

/** The members that are streamed in pieces. */
const PIECES = ["data", "transcript"] as const;

/** Assembles the audio of a streamed answer. Its bytes and its transcript come in pieces, the rest comes once. */
export class SpokenAudio {
  readonly #audio: Record<string, unknown> = {};
  readonly #pieces = { data: "", transcript: "" };
  heard = false;

  hear(audio: JsonObject): void {
    this.heard = true;
    Object.assign(this.#audio, audio);
    for (const member of PIECES) this.#pieces[member] += stringAt(audio, member) ?? "";
    if (this.#pieces.data.length + this.#pieces.transcript.length > MAX_HELD) {
      throw new GatewayError("upstream_failed", "The provider sent more audio than the gateway can buffer.");
    }
  }

  /** Undefined if there was no audio. */
  get whole(): NativePart | undefined {
    if (!this.heard) return undefined;
    const said = PIECES.filter((member) => member in this.#audio);
    return audioPart({ ...this.#audio, ...Object.fromEntries(said.map((member) => [member, this.#pieces[member]])) });
  }
}
