import type { Opaque } from "../../canon/opaque.ts";
import type { Part, ToolCallPart } from "../../canon/part.ts";

/** An unsigned thought, in the position of a signature. */
export const thoughtAsSignature = (text: string): Opaque => ({ origin: "", kind: "text", value: text });

/**
 * Clients of this protocol keep the signatures of calls in their history, and many of them no thoughts. Hosts that sign nothing
 * may want their thoughts back with a call all the same: the first call after such a thought carries it.
 */
export class UnsignedThoughts {
  #text = "";

  think(text: string, signature: Opaque | undefined): void {
    this.#text = signature === undefined ? this.#text + text : "";
  }

  sign(call: ToolCallPart): ToolCallPart {
    if (call.signature !== undefined || this.#text === "") return call;
    const signature = thoughtAsSignature(this.#text);
    this.#text = "";
    return { ...call, signature };
  }
}

/** Gives thoughts that calls carried their own place again, where the client did not keep them by itself. */
export class ThoughtRestorer {
  /** What the model's turn has said of its thoughts so far. */
  #reported = "";

  /** A turn of the user's ends the model's. */
  nextTurn(): void {
    this.#reported = "";
  }

  restore(part: Part): Part[] {
    if (part.type === "reasoning") this.#reported += part.text;
    if (part.type !== "tool-call" || part.signature?.kind !== "text") return [part];
    const { signature, ...call } = part;
    if (this.#reported.includes(signature.value)) return [call];
    this.#reported += signature.value;
    const position = part.path === undefined ? {} : { path: `${part.path}.thoughtSignature` };
    return [{ type: "reasoning", text: signature.value, ...position }, call];
  }
}
