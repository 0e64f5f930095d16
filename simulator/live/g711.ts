/** The two encodings of ITU-T G.711: eight bits a sample, at 8,000 samples a second. */
export type Law = "mu" | "a";

export const G711_RATE = 8_000;

const MU_BIAS = 0x84;
const MU_MAX = 32_635;

function encodeMu(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const size = Math.min(Math.abs(sample), MU_MAX) + MU_BIAS;
  const exponent = Math.max(0, 24 - Math.clz32(size));
  return ~(sign | (exponent << 4) | ((size >> (exponent + 3)) & 0x0f)) & 0xff;
}

function decodeMu(byte: number): number {
  const bits = ~byte & 0xff;
  const size = ((((bits & 0x0f) << 3) + MU_BIAS) << ((bits >> 4) & 7)) - MU_BIAS;
  return (bits & 0x80) === 0 ? size : -size;
}

function encodeA(sample: number): number {
  const isPositive = sample >= 0;
  const size = Math.min(isPositive ? sample : -sample - 1, 32_767) >> 3;
  const exponent = Math.max(0, 27 - Math.clz32(size));
  const mantissa = exponent === 0 ? (size >> 1) & 0x0f : (size >> exponent) & 0x0f;
  return ((exponent << 4) | mantissa | (isPositive ? 0x80 : 0)) ^ 0x55;
}

function decodeA(byte: number): number {
  const bits = byte ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const size = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return (bits & 0x80) === 0 ? -size : size;
}

const TABLES: Readonly<Record<Law, Int16Array>> = {
  mu: Int16Array.from({ length: 256 }, (_, byte) => decodeMu(byte)),
  a: Int16Array.from({ length: 256 }, (_, byte) => decodeA(byte)),
};

export function decodeG711(bytes: Uint8Array, law: Law): Int16Array {
  const table = TABLES[law];
  return Int16Array.from(bytes, (byte) => table[byte] ?? 0);
}

export function encodeG711(samples: Int16Array, law: Law): Uint8Array {
  return Uint8Array.from(samples, law === "mu" ? encodeMu : encodeA);
}
