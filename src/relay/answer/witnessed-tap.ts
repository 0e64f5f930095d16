import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { MediaTokens } from "../../canon/media-tokens.ts";
import type { Stop } from "../../canon/stop.ts";
import type { Usage } from "../../canon/usage.ts";
import type { Tap, TapProgress } from "../../dialects/dialect.ts";
import { endOfEvent } from "../../wire/sse.ts";
import type { AnswerSoFar } from "./answer-so-far.ts";

/**
 * A tap that also records what it renders. Output between the stop reason and the end is held: if the end does not arrive, another
 * offer may have to end the response. Output that only closes a text is held until the next output, because another offer may have
 * more of that text.
 */
export class WitnessedTap implements Tap {
  readonly #tap: Tap;
  readonly #soFar: AnswerSoFar;
  readonly #waiting = new ByteBuffer();

  constructor(tap: Tap, soFar: AnswerSoFar) {
    this.#tap = tap;
    this.#soFar = soFar;
  }

  push(events: Uint8Array, output: ByteBuffer): TapProgress {
    if (events.length === 0) {
      const from = output.length;
      this.#tap.push(events, output);
      this.#see(output, from);
    }
    for (let at = 0; at < events.length; ) {
      const end = endOfEvent(events, at);
      const from = output.length;
      this.#tap.push(events.subarray(at, end), output);
      this.#see(output, from);
      at = end;
    }
    return this;
  }

  end(rest: string, output: ByteBuffer): TapProgress {
    const from = output.length;
    this.#tap.end(rest, output);
    this.#see(output, from);
    return this;
  }

  #see(output: ByteBuffer, from: number): void {
    const waits = this.#waits(output.view().subarray(from));
    if (this.#waiting.length > 0 || waits) {
      this.#waiting.putBytes(output.view().subarray(from));
      output.length = from;
      if (waits) return;
      output.putBytes(this.#waiting.view());
      this.#waiting.clear();
    }
    this.#soFar.read(output.view().subarray(from));
  }

  #waits(rendered: Uint8Array): boolean {
    const { state, stop } = this.#tap;
    if (state !== "open") return false;
    if (stop !== undefined) return true;
    return rendered.length === 0 ? this.#waiting.length > 0 : this.#soFar.onlyCloses(rendered);
  }

  get state(): "open" | "complete" | "ended" {
    return this.#tap.state;
  }

  get failure(): TapProgress["failure"] {
    return this.#tap.failure;
  }

  /** An empty open block is not yet a commitment: another offer can still start over. */
  get contentSeen(): boolean {
    return this.#tap.contentSeen && (this.#soFar.hasBegun || this.#tap.state !== "open");
  }

  get usage(): Usage | undefined {
    return this.#tap.usage;
  }

  get usageRuns(): boolean {
    return this.#tap.usageRuns;
  }

  get stop(): Stop | undefined {
    return this.#tap.stop;
  }

  get generatedCharacters(): number {
    return this.#tap.generatedCharacters;
  }

  get generatedMedia(): MediaTokens | undefined {
    return this.#tap.generatedMedia;
  }

  get reasoningSeen(): boolean {
    return this.#tap.reasoningSeen;
  }

  get pending(): Promise<unknown> | undefined {
    return this.#tap.pending;
  }

  /** The client's position: it has received nothing of what is held. */
  get position(): unknown {
    return (this.#waiting.length > 0 ? this.#soFar.position : undefined) ?? this.#tap.position;
  }
}
