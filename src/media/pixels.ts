import { promisify } from "node:util";
import type { InputType, ZlibOptions } from "node:zlib";
import { nextTurn } from "../base/next-turn.ts";
import type { PixelSize } from "./image.ts";
import { MAX_PIXELS } from "./inspect-image.ts";

/** The pixels of an image: four bytes each, red, green, blue and alpha. */
export interface Pixels extends PixelSize {
  bytes: Uint8Array;
  /** The position of a pixel's first byte. */
  offset: (x: number, y: number) => number;
}

const SIGNATURE_LENGTH = 8;
const COLOUR_WITH_ALPHA = 6;
/** After this many pixels, other calls get a turn of the event loop. */
const PIXELS_A_TURN = 64 * 1024;

async function expand(data: InputType, options: ZlibOptions): Promise<Buffer> {
  const { inflate } = await import("node:zlib");
  return await promisify<InputType, ZlibOptions, Buffer>(inflate)(data, options);
}

/**
 * Reads the pixels of any image that `Bun.Image` reads. It has no method for that, but an uncompressed PNG that it writes contains
 * them: eight bits per channel, with alpha, unfiltered, each row after one byte.
 */
export async function readPixels(image: Uint8Array): Promise<Pixels> {
  const png = await new Bun.Image(image, { maxPixels: MAX_PIXELS }).png({ compressionLevel: 0 }).buffer();
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const parts: Uint8Array[] = [];
  for (let at = SIGNATURE_LENGTH; at + 12 <= png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const stride = width * 4 + 1;
  const bytes = await expand(joined(parts), {
    chunkSize: Math.max(64, stride * height),
    maxOutputLength: stride * height,
  });
  const plain = png[24] === 8 && png[25] === COLOUR_WITH_ALPHA && png[28] === 0 && bytes.length === stride * height;
  for (let y = 0; y < height; y++) {
    if (!plain || bytes[y * stride] !== 0) throw new Error("Bun.Image wrote a PNG in an unexpected form");
  }
  return { width, height, bytes, offset: (x, y) => y * stride + 1 + x * 4 };
}

/** Avoids a copy of a large image that is in one part. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

/** Visits an image row by row, without blocking other calls for as long as a large image takes. */
export async function eachRow({ width, height }: PixelSize, visit: (y: number) => void): Promise<void> {
  const rowsATurn = Math.max(1, Math.floor(PIXELS_A_TURN / width));
  for (let y = 0; y < height; y++) {
    visit(y);
    if (y % rowsATurn === rowsATurn - 1) await nextTurn();
  }
}
