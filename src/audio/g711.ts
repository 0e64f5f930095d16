/** One law of G.711: eight bits for each sample, in steps that grow with the loudness. */
export interface CompandingLaw {
  /** The sample of each code. */
  readonly linear: Int16Array;
  /** The code of a sample of 16 bits. */
  encode(sample: number): number;
}

const CODES = 256;
const SIGN = 0x80;
const BIAS = 0x84;
const CLIP = 32_635;

function decodeMu(code: number): number {
  const flipped = ~code & 0xff;
  const magnitude = (((flipped & 0x0f) << 3) + BIAS) << ((flipped & 0x70) >> 4);
  return flipped & SIGN ? BIAS - magnitude : magnitude - BIAS;
}

function encodeMu(sample: number): number {
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS;
  // Bias makes the highest bit one of 7 to 14: the segment is its distance from 7.
  const segment = 24 - Math.clz32(magnitude);
  const code = (segment << 4) | ((magnitude >> (segment + 3)) & 0x0f);
  return ~(sample < 0 ? code | SIGN : code) & 0xff;
}

/** The odd bits of A-law codes are inverted on the wire. */
const TOGGLED = 0x55;

function decodeA(code: number): number {
  const plain = code ^ TOGGLED;
  const segment = (plain & 0x70) >> 4;
  const step = (plain & 0x0f) << 4;
  const magnitude = segment === 0 ? step + 8 : (step + 0x108) << (segment - 1);
  return plain & SIGN ? magnitude : -magnitude;
}

function encodeA(sample: number): number {
  // 13 bits, as the recommendation counts. -1 and 0 are the same distance from the middle of the scale.
  const value = sample >> 3;
  const magnitude = Math.min(value < 0 ? -value - 1 : value, 0xfff);
  const segment = magnitude < 0x20 ? 0 : 27 - Math.clz32(magnitude);
  const mantissa = (segment < 2 ? magnitude >> 1 : magnitude >> segment) & 0x0f;
  return ((segment << 4) | mantissa | (value < 0 ? 0 : SIGN)) ^ TOGGLED;
}

function lawOf(decode: (code: number) => number, encode: (sample: number) => number): CompandingLaw {
  return { linear: Int16Array.from({ length: CODES }, (_, code) => decode(code)), encode };
}

export const G711: Readonly<Record<"pcmu" | "pcma", CompandingLaw>> = {
  pcmu: lawOf(decodeMu, encodeMu),
  pcma: lawOf(decodeA, encodeA),
};
