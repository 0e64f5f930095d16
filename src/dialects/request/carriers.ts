import { type Opaque, unwrapOpaque, wrapOpaque } from "../../canon/opaque.ts";
import type { Part, ReasoningPart } from "../../canon/part.ts";

/**
 * Some dialects have no signature on text and tool calls. A signature from elsewhere travels next to them in an opaque reasoning
 * field, which clients send back unchanged, and whose wrapped `format` says what it belongs to (H01).
 */
export type CarrierPosition =
  /** The tool call that follows, which is what a bare signature means. */
  | "next-call"
  /** The tool call before it, for a signature that arrived after the call was sent. */
  | "call"
  /** The text before it. */
  | "text"
  /** An empty text part, which it represents itself. */
  | "empty-text"
  /** Reasoning without text, which it represents itself where a bare signature would mean the next call. */
  | "thought";

const POSITIONS: readonly CarrierPosition[] = ["next-call", "call", "text", "empty-text", "thought"];

export interface Carrier {
  position: CarrierPosition;
  signature: Opaque;
}

export function wrapCarrier({ position, signature }: Carrier): string {
  const { format, ...value } = signature;
  const bare = position === "next-call" && signature.kind === "signature" && format === undefined;
  const positioned = bare ? value : { ...value, format: format === undefined ? position : `${position}:${format}` };
  return wrapOpaque(positioned);
}

/** Undefined if the text is real reasoning, or was not written by the gateway. */
export function unwrapCarrier(data: string): Carrier | undefined {
  const opaque = unwrapOpaque(data);
  if (opaque === undefined) return undefined;
  const { format, ...value } = opaque;
  if (format === undefined) {
    return opaque.kind === "signature" ? { position: "next-call", signature: value } : undefined;
  }
  const position = POSITIONS.find((one) => format === one || format.startsWith(`${one}:`));
  if (position === undefined)
    return opaque.kind === "signature" ? { position: "next-call", signature: opaque } : undefined;
  const own = format.slice(position.length + 1);
  return { position, signature: own === "" ? value : { ...value, format: own } };
}

/** The parts of one response in a client's history, with every carrier merged into what it belongs to. */
export class SignedParts {
  readonly parts: Part[] = [];
  /** The signature of the next tool call, as the reasoning part that it becomes if no call follows. */
  #waiting: ReasoningPart | undefined;

  push(part: Part): void {
    const signature = part.type === "tool-call" ? this.#waiting?.signature : undefined;
    if (signature !== undefined) this.#waiting = undefined;
    this.parts.push(signature === undefined ? part : { ...part, signature });
  }

  carry({ position, signature }: Carrier, path: string): void {
    const { parts } = this;
    const before = parts.at(-1);
    if (position === "next-call") {
      this.end();
      this.#waiting = { type: "reasoning", text: "", signature, path };
    } else if (position === "call" && before?.type === "tool-call") parts[parts.length - 1] = { ...before, signature };
    else if (position === "text" && before?.type === "text") parts[parts.length - 1] = { ...before, signature };
    else if (position === "call" || position === "thought")
      parts.push({ type: "reasoning", text: "", signature, path });
    else parts.push({ type: "text", text: "", signature, path });
  }

  /** No call follows. */
  end(): readonly Part[] {
    if (this.#waiting !== undefined) this.parts.push(this.#waiting);
    this.#waiting = undefined;
    return this.parts;
  }
}
