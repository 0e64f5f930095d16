import { featuresOf } from "./features.ts";

const BITS = 32;

/**
 * A vector of length 1. The same text has the same one on every host, and texts that share words point in similar directions: each feature
 * has a direction of its own, drawn from its name, and a text is their sum. The first numbers of a vector are those of a shorter one, but
 * for the length.
 */
export function embedText(text: string, dimensions: number): number[] {
  const sum = new Float64Array(dimensions);
  for (const [name, weight] of featuresOf(text)) addDirection(sum, seedOf(name), weight);
  const length = Math.hypot(...sum) || 1;
  return Array.from(sum, (value) => Math.fround(value / length));
}

/** Adds or subtracts the weight in each dimension, as the bits of a sequence say. */
function addDirection(sum: Float64Array, seed: number, weight: number): void {
  let state = seed;
  let bits = 0;
  for (let at = 0; at < sum.length; at++) {
    if (at % BITS === 0) {
      state = (state + 0x9e3779b9) | 0;
      bits = mix(state);
    }
    sum[at] = (sum[at] ?? 0) + ((bits >>> (at % BITS)) & 1 ? weight : -weight);
  }
}

/** The finish of MurmurHash3: every bit of the result depends on every bit of the state. */
function mix(state: number): number {
  let value = state;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}

/** FNV-1a. */
function seedOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return hash;
}
