import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Fields } from "../../canon/fields.ts";
import { BYTES, type Opaque } from "../../canon/opaque.ts";
import { nativeOf } from "../../canon/opaque-carriers.ts";
import type { NativePart, ReasoningPart } from "../../canon/part.ts";
import { parseInOrder } from "../../wire/ordered-json.ts";
import { type BlockSource, encodeOpaque, readOpaque } from "./opaque-values.ts";

/** A thinking block may be empty but signed (H02), or unsigned if its text comes from elsewhere. */
export function decodeThinking(fields: Fields, source: BlockSource): ReasoningPart {
  const signature = readOpaque(fields.string("signature"), "signature", source);
  const text = fields.string("thinking") ?? "";
  if (signature?.kind === "text") return { type: "reasoning", text: text || signature.value };
  return withoutAbsent({ type: "reasoning" as const, text, signature });
}

/** Redacted reasoning, or a block of another dialect that was carried in its place. */
export function decodeRedactedThinking(fields: Fields, source: BlockSource): ReasoningPart | NativePart | undefined {
  const signature = readOpaque(fields.string("data"), "redacted", source);
  return signature && (nativeOf(signature, parseInOrder) ?? { type: "reasoning", text: "", signature });
}

/** For a client that omits reasoning: what must come back is sent hidden. */
export function encodeHiddenThinking({ text, signature }: ReasoningPart): JsonObject | undefined {
  const unseen = signature ?? (text === "" ? undefined : hiddenText(text));
  return encodeThinking(withoutAbsent({ type: "reasoning" as const, text: "", signature: unseen }));
}

/** Unsigned reasoning travels as its own text. */
export const hiddenText = (text: string): Opaque => ({ origin: "", kind: "text", value: text });

/** For a client. Undefined for a part with neither text nor signature. */
export function encodeThinking({ text, signature }: ReasoningPart): JsonObject | undefined {
  if (text !== "") {
    return {
      type: "thinking",
      thinking: text,
      signature: signature === undefined ? "" : encodeOpaque(signature, "signature"),
    };
  }
  if (signature === undefined) return undefined;
  return signature.kind === "signature" || signature.kind === "text"
    ? { type: "thinking", thinking: "", signature: encodeOpaque(signature, "signature") }
    : { type: "redacted_thinking", data: encodeOpaque(signature, "redacted") };
}

/** For an upstream, which only accepts what it has signed itself. */
export function encodeOwnThinking({ text, signature }: ReasoningPart, origin: string): JsonObject | undefined {
  if (signature === undefined || signature.origin !== origin) return undefined;
  if (signature.kind === "redacted") return { type: "redacted_thinking", data: textOf(signature) };
  return signature.kind === "signature" ? { type: "thinking", thinking: text, signature: signature.value } : undefined;
}

/** The same family is also reached over a protocol that carries bytes. */
const textOf = ({ value, format }: Opaque): string =>
  format === BYTES ? Buffer.from(value, "base64").toString() : value;
