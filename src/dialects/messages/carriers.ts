import { type JsonObject, stringAt } from "../../base/json.ts";
import { type Opaque, unwrapOpaque, wrapOpaque } from "../../canon/opaque.ts";

/**
 * Text and tool calls have no signature in this dialect. One from elsewhere travels in a `redacted_thinking` block of its
 * own next to them, which clients send back unchanged, and whose wrapped `format` says what it belongs to (H01).
 */
export type CarrierPlace =
  /** The tool call that follows: what a bare signature means. */
  | "next-call"
  /** The tool call before it, for a signature that came after the call had been sent. */
  | "call"
  /** The text before it. */
  | "text"
  /** A text part without text, which stands for itself. */
  | "empty-text";

const PLACES: readonly CarrierPlace[] = ["next-call", "call", "text", "empty-text"];

export interface Carrier {
  place: CarrierPlace;
  signature: Opaque;
}

export function encodeCarrier({ place, signature }: Carrier): JsonObject {
  const { format, ...value } = signature;
  const bare = place === "next-call" && signature.kind === "signature" && format === undefined;
  const placed = bare ? value : { ...value, format: format === undefined ? place : `${place}:${format}` };
  return { type: "redacted_thinking", data: wrapOpaque(placed) };
}

/** Undefined where the block's value is reasoning of its own, or of the dialect's own origin. */
export function decodeCarrier(data: string): Carrier | undefined {
  const opaque = unwrapOpaque(data);
  if (opaque === undefined) return undefined;
  const { format, ...value } = opaque;
  if (format === undefined) {
    return opaque.kind === "signature" ? { place: "next-call", signature: value } : undefined;
  }
  const place = PLACES.find((one) => format === one || format.startsWith(`${one}:`));
  if (place === undefined) return opaque.kind === "signature" ? { place: "next-call", signature: opaque } : undefined;
  const own = format.slice(place.length + 1);
  return { place, signature: own === "" ? value : { ...value, format: own } };
}

/** Whether a block of our own making stands for nothing but the signature of the text before it, or of an empty one. */
export function carriesTextSignature(block: JsonObject | undefined): boolean {
  const data = block?.["type"] === "redacted_thinking" ? stringAt(block, "data") : undefined;
  const place = data === undefined ? undefined : decodeCarrier(data)?.place;
  return place === "text" || place === "empty-text";
}
