import { box, halves, words } from "./boxes.ts";
import type { EncodedFrames } from "./mp4.ts";

const BASELINE_PROFILE = 66;
/** Baseline and main decoders alike can read it. */
const CONSTRAINTS = 0xc0;
const LEVEL_5_1 = 51;
const SEQUENCE_PARAMETERS = 0x67;
const FRAME_PARAMETERS = 0x68;
const KEY_SLICE = 0x65;
const PREDICTED_SLICE = 0x61;
const INTRA_SLICE_TYPE = 7;
const PREDICTED_SLICE_TYPE = 5;
const UNCOMPRESSED_MACROBLOCK = 25;
const FRAME_NUMBERS = 16;
const DOTS_PER_INCH = 72 * 0x10000;

/** Bits in the order of H.264, the first one highest. */
class Bits {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  put(value: number, bits: number): this {
    for (let bit = bits - 1; bit >= 0; bit--) {
      if ((value >>> bit) & 1) this.#bytes[this.#at >> 3]! |= 0x80 >> (this.#at & 7);
      this.#at++;
    }
    return this;
  }

  /** Exp-Golomb: the standard's `ue(v)`, and `se(v)` only for 0. */
  putNumber(value: number): this {
    const length = 32 - Math.clz32(value + 1);
    return this.put(0, length - 1).put(value + 1, length);
  }

  align(): this {
    this.#at = (this.#at + 7) & ~7;
    return this;
  }

  /** Only where the bits are aligned. */
  putBytes(bytes: Uint8Array): this {
    this.#bytes.set(bytes, this.#at >> 3);
    this.#at += bytes.length * 8;
    return this;
  }

  /** With the bit that ends every unit. */
  finish(): Uint8Array {
    this.put(1, 1).align();
    return this.#bytes.subarray(0, this.#at >> 3);
  }
}

/** A unit with its length. Inside it no start code may seem to stand, so a 3 goes between two zeros and a small byte. */
function unit(type: number, payload: Uint8Array): Uint8Array {
  const escaped = Buffer.alloc(5 + Math.ceil(payload.length * 1.5));
  let at = 4;
  escaped[at++] = type;
  let zeros = 0;
  for (let from = 0; from < payload.length; from++) {
    const byte = payload[from] ?? 0;
    if (zeros === 2 && byte <= 3) {
      escaped[at++] = 3;
      zeros = 0;
    }
    escaped[at++] = byte;
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  escaped.writeUInt32BE(at - 4);
  return escaped.subarray(0, at);
}

interface Size {
  width: number;
  height: number;
}

const macroblocks = (pixels: number) => Math.ceil(pixels / 16);

function sequenceParameters({ width, height }: Size): Uint8Array {
  const [columns, rows] = [macroblocks(width), macroblocks(height)];
  const bits = new Bits(64).put(BASELINE_PROFILE, 8).put(CONSTRAINTS, 8).put(LEVEL_5_1, 8);
  // Frame numbers of four bits, output in the order of decoding, one reference frame, no gaps.
  bits.putNumber(0).putNumber(0).putNumber(2).putNumber(1).put(0, 1);
  bits.putNumber(columns - 1).putNumber(rows - 1);
  // Whole frames, and the flag that the standard requires with them; then the cropping, in pairs of pixels.
  bits.put(1, 1).put(1, 1).put(1, 1);
  bits.putNumber(0).putNumber((columns * 16 - width) / 2);
  bits.putNumber(0).putNumber((rows * 16 - height) / 2);
  return bits.put(0, 1).finish();
}

function frameParameters(): Uint8Array {
  const bits = new Bits(16).putNumber(0).putNumber(0).put(0, 2).putNumber(0).putNumber(0).putNumber(0);
  return bits.put(0, 3).putNumber(0).putNumber(0).putNumber(0).put(0, 3).finish();
}

/** One square of the frame: its brightness, or one of its two colours. Beyond the edge the last pixel is repeated. */
function square(plane: Uint8Array, { width, height }: Size, column: number, row: number, side: number): Uint8Array {
  const bytes = new Uint8Array(side * side);
  for (let y = 0; y < side; y++) {
    const line = Math.min(height - 1, row * side + y) * width;
    for (let x = 0; x < side; x++) bytes[y * side + x] = plane[line + Math.min(width - 1, column * side + x)] ?? 0;
  }
  return bytes;
}

/** A frame at which a player may begin, with its pixels as they are. Two in a row must not have the same id. */
function keyFrame(yuv: Uint8Array, size: Size, id: 0 | 1): Uint8Array {
  const { width, height } = size;
  const [columns, rows] = [macroblocks(width), macroblocks(height)];
  const half = { width: width / 2, height: height / 2 };
  const pixels = width * height;
  const planes = [
    [yuv.subarray(0, pixels), size, 16],
    [yuv.subarray(pixels, pixels * 1.25), half, 8],
    [yuv.subarray(pixels * 1.25), half, 8],
  ] as const;
  const bits = new Bits(64 + columns * rows * 400);
  bits.putNumber(0).putNumber(INTRA_SLICE_TYPE).putNumber(0).put(0, 4).putNumber(id).put(0, 2).putNumber(0);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      bits.putNumber(UNCOMPRESSED_MACROBLOCK).align();
      for (const [plane, bounds, side] of planes) bits.putBytes(square(plane, bounds, column, row, side));
    }
  }
  return unit(KEY_SLICE, bits.finish());
}

/** A frame that is the same as the one before it. */
function repeatedFrame(index: number, { width, height }: Size): Uint8Array {
  const bits = new Bits(32)
    .putNumber(0)
    .putNumber(PREDICTED_SLICE_TYPE)
    .putNumber(0)
    .put(index % FRAME_NUMBERS, 4);
  bits
    .put(0, 3)
    .putNumber(0)
    .putNumber(macroblocks(width) * macroblocks(height));
  return unit(PREDICTED_SLICE, bits.finish());
}

/** What a player must know before the first frame: the box `avc1` without its colours. */
function sampleEntry({ width, height }: Size): Uint8Array {
  const sequence = unit(SEQUENCE_PARAMETERS, sequenceParameters({ width, height })).subarray(4);
  const frame = unit(FRAME_PARAMETERS, frameParameters()).subarray(4);
  const about = [1, BASELINE_PROFILE, CONSTRAINTS, LEVEL_5_1, 0xff, 0xe1];
  return Buffer.concat([
    halves(0, 0, 0, 1),
    words(0, 0, 0, 0),
    halves(width, height),
    words(DOTS_PER_INCH, DOTS_PER_INCH, 0),
    halves(1),
    new Uint8Array(32),
    halves(24, 0xffff),
    box("avcC", about, halves(sequence.length), sequence, [1], halves(frame.length), frame),
  ]);
}

/**
 * H.264 of an image that stands still, and of another at the end where one is given. It needs no encoder: pixels go as they
 * are, and every frame between says that nothing has changed.
 */
export function encodeStill(size: Size, count: number, first: Uint8Array, last: Uint8Array | undefined): EncodedFrames {
  const frames = [keyFrame(first, size, 0)];
  while (frames.length < count) frames.push(repeatedFrame(frames.length, size));
  if (last && count > 1) frames[count - 1] = keyFrame(last, size, 1);
  return { frames, entry: sampleEntry(size) };
}
