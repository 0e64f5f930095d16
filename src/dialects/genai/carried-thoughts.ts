import type { Opaque } from "../../canon/opaque.ts";
import { readThoughts, type Thought, thoughtsAsSignature } from "../../canon/opaque-carriers.ts";
import type { Part, ReasoningPart, ToolCallPart } from "../../canon/part.ts";
import { OWN_ORIGIN } from "./signature.ts";

/** An unsigned thought in the field of a signature. */
export const thoughtAsSignature = (text: string): Opaque => ({ origin: "", kind: "text", value: text });

/**
 * Clients of this protocol keep the signatures of calls in their history, but many drop thoughts. Hosts that sign their thoughts
 * but not their calls expect the thoughts back with a call, and hosts without signatures may too: the first call after such
 * thoughts carries them.
 */
export class CarriedThoughts {
  #unsigned = "";
  #signed: Thought[] = [];

  think(text: string, signature: Opaque | undefined): void {
    if (signature === undefined) {
      this.#unsigned += text;
      return;
    }
    this.#unsigned = "";
    // Hosts of this protocol sign their calls.
    if (signature.origin === OWN_ORIGIN) this.#signed = [];
    else this.#signed.push({ text, signature });
  }

  sign(call: ToolCallPart): ToolCallPart {
    if (call.signature !== undefined) return call;
    const signature = this.#take();
    return signature === undefined ? call : { ...call, signature };
  }

  #take(): Opaque | undefined {
    const [unsigned, signed] = [this.#unsigned, this.#signed];
    this.#unsigned = "";
    this.#signed = [];
    if (signed.length > 0) return thoughtsAsSignature(signed);
    return unsigned === "" ? undefined : thoughtAsSignature(unsigned);
  }
}

/** Restores thoughts that calls carried, unless the client kept them itself. */
export class ThoughtRestorer {
  /** The thoughts in the model's turn so far. */
  #reported = "";
  readonly #signatures = new Set<string>();
  /** Thoughts of this turn without a signature. */
  #unsigned: ReasoningPart[] = [];

  /** A user turn ends the model's turn. */
  nextTurn(): void {
    this.#reported = "";
    this.#signatures.clear();
    this.#unsigned = [];
  }

  restore(part: Part): Part[] {
    if (part.type === "reasoning") {
      this.#see(part.text, part.signature);
      if (part.signature === undefined) this.#unsigned.push(part);
    }
    if (part.type !== "tool-call" || part.signature === undefined) return [part];
    const thoughts = readThoughts(part.signature);
    if (thoughts === undefined) return [part];
    const { signature: _carrier, ...call } = part;
    const path = part.path === undefined ? {} : { path: `${part.path}.thoughtSignature` };
    const missing = thoughts.filter((thought) => !this.#wasSeen(thought) && !this.#signKept(thought));
    for (const { text, signature } of missing) this.#see(text, signature);
    return [...missing.map((thought): ReasoningPart => ({ type: "reasoning", ...thought, ...path })), call];
  }

  /** Some clients keep a thought but lose its signature. It is restored here. */
  #signKept({ text, signature }: Thought): boolean {
    const kept = this.#unsigned.find((part) => part.text === text);
    if (kept === undefined || signature === undefined) return false;
    kept.signature = signature;
    this.#unsigned.splice(this.#unsigned.indexOf(kept), 1);
    this.#signatures.add(signature.value);
    return true;
  }

  #see(text: string, signature: Opaque | undefined): void {
    this.#reported += text;
    if (signature !== undefined) this.#signatures.add(signature.value);
  }

  #wasSeen({ text, signature }: Thought): boolean {
    return signature === undefined ? this.#reported.includes(text) : this.#signatures.has(signature.value);
  }
}
