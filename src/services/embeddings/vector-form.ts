import type { EmbeddingVector } from "./embedding-reply.ts";

const BYTES = 4;

/** The numbers of a vector, which may have come in base64. */
export function numbersOf(vector: EmbeddingVector): readonly number[] {
  if (typeof vector !== "string") return vector;
  const bytes = Buffer.from(vector, "base64");
  return Array.from({ length: bytes.length / BYTES }, (_, index) => bytes.readFloatLE(index * BYTES));
}

/** A vector in base64, which may have come as numbers. */
export function base64Of(vector: EmbeddingVector): string {
  if (typeof vector === "string") return vector;
  const bytes = Buffer.allocUnsafe(vector.length * BYTES);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * BYTES);
  return bytes.toString("base64");
}

/** How many numbers a vector has; undefined where it is none. */
export function dimensionsOf(vector: unknown): number | undefined {
  if (Array.isArray(vector)) {
    return vector.length > 0 && vector.every((value) => typeof value === "number") ? vector.length : undefined;
  }
  const bytes = typeof vector === "string" ? Buffer.byteLength(vector, "base64") : 0;
  return bytes > 0 && bytes % BYTES === 0 ? bytes / BYTES : undefined;
}
