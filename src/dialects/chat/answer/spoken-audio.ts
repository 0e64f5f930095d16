import { type JsonObject, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { NativePart } from "../../../canon/part.ts";
import { audioPart } from "../audio-part.ts";

/** What is kept of one answer's audio until it is whole, in characters. Nothing honest comes near. */
const MAX_HELD = 64 * 1024 * 1024;

/** The members that come in pieces. */
const PIECES = ["data", "transcript"] as const;

/** Puts the audio of a streamed answer together: its bytes and its words come in pieces, the rest of it once. */
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

  /** Undefined where nothing was spoken. */
  get whole(): NativePart | undefined {
    if (!this.heard) return undefined;
    const said = PIECES.filter((member) => member in this.#audio);
    return audioPart({ ...this.#audio, ...Object.fromEntries(said.map((member) => [member, this.#pieces[member]])) });
  }
}
