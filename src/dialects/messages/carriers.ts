import { type JsonObject, stringAt } from "../../base/json.ts";
import { type Opaque, unwrapOpaque, wrapOpaque } from "../../canon/opaque.ts";

/**
 * Text and tool calls have no signature in this dialect. One from elsewhere travels in a `redacted_thinking` block of its
 * own next to them, which clients send back unchanged, and whose wrapped `format` says what it belongs to (H01).
 */
type CarrierPosition =
  /** The tool call that follows: what a bare signature means. */
  | "next-call"
  /** The tool call before it, for a signature that came after the call had been sent. */
  | "call"
  /** The text before it. */
  | "text"
  /** A text part without text, which stands for itself. */
  | "empty-text";

const POSITIONS: readonly CarrierPosition[] = ["next-call", "call", "text", "empty-text"];

interface Carrier {
  position: CarrierPosition;
  signature: Opaque;
}

export function encodeCarrier({ position, signature }: Carrier): JsonObject {
  const { format, ...value } = signature;
  const bare = position === "next-call" && signature.kind === "signature" && format === undefined;
  const positioned = bare ? value : { ...value, format: format === undefined ? position : `${position}:${format}` };
  return { type: "redacted_thinking", data: wrapOpaque(positioned) };
}

/** Undefined where the block's value is reasoning of its own, or of the dialect's own origin. */
export function decodeCarrier(data: string): Carrier | undefined {
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

/** Whether a block of our own making stands for nothing but the signature of the text before it, or of an empty one. */
export function carriesTextSignature(block: JsonObject | undefined): boolean {
  const data = block?.["type"] === "redacted_thinking" ? stringAt(block, "data") : undefined;
  const position = data === undefined ? undefined : decodeCarrier(data)?.position;
  return position === "text" || position === "empty-text";
}
