import type { EmbeddingVector } from "./embedding-reply.ts";

const BYTES = 4;

/** The numbers of a vector, decoded from base64 if needed. */
export function numbersOf(vector: EmbeddingVector): readonly number[] {
  if (typeof vector !== "string") return vector;
  const bytes = Buffer.from(vector, "base64");
  return Array.from({ length: bytes.length / BYTES }, (_, index) => bytes.readFloatLE(index * BYTES));
}

/** A vector in base64, encoded if needed. */
export function base64Of(vector: EmbeddingVector): string {
  if (typeof vector === "string") return vector;
  const bytes = Buffer.allocUnsafe(vector.length * BYTES);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * BYTES);
  return bytes.toString("base64");
}

/** The dimensions of a vector; undefined if it is not a vector, or contains a number that is not finite, which JSON cannot represent. */
export function dimensionsOf(vector: unknown): number | undefined {
  if (Array.isArray(vector)) return vector.length > 0 && vector.every(Number.isFinite) ? vector.length : undefined;
  const bytes = typeof vector === "string" ? Buffer.from(vector, "base64") : undefined;
  if (bytes === undefined || bytes.length === 0 || bytes.length % BYTES > 0) return undefined;
  return areFinite(bytes) ? bytes.length / BYTES : undefined;
}

/** Without decoding the numbers: infinity and NaN have all bits of the exponent set. */
function areFinite(floats: Buffer): boolean {
  for (let at = BYTES - 1; at < floats.length; at += BYTES) {
    if ((Number(floats[at]) & 0x7f) === 0x7f && (Number(floats[at - 1]) & 0x80) !== 0) return false;
  }
  return true;
}
