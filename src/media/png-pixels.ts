import { promisify } from "node:util";
import { crc32, deflate, type InputType, inflate, type ZlibOptions } from "node:zlib";
import type { PixelSize } from "./picture.ts";

/** The pixels of a picture: four bytes each, red, green, blue and alpha. */
export interface Pixels extends PixelSize {
  bytes: Uint8Array;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const GREY = 0;
const COLOUR = 2;
const COLOUR_WITH_ALPHA = 6;
const BYTES_A_PIXEL = 4;
/** After so many pixels the others have a turn. */
const PIXELS_A_TURN = 512 * 1024;

const compress = promisify<InputType, ZlibOptions, Buffer>(deflate);
const expand = promisify<InputType, ZlibOptions, Buffer>(inflate);

/** Reads the one form that `Bun.Image` writes: eight bits a channel, with alpha, not interlaced. */
export async function decodePng(png: Uint8Array): Promise<Pixels> {
  const file = Buffer.from(png.buffer, png.byteOffset, png.length);
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  if (file[24] !== 8 || file[25] !== COLOUR_WITH_ALPHA || file[28] !== 0) {
    throw new Error("this PNG is not in the form that Bun.Image writes");
  }
  const parts: Uint8Array[] = [];
  for (let at = SIGNATURE.length; at + 12 <= file.length; at += file.readUInt32BE(at) + 12) {
    if (file.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  }
  const stride = width * BYTES_A_PIXEL;
  const rows = await expand(Buffer.concat(parts), { maxOutputLength: (stride + 1) * height });
  const bytes = new Uint8Array(stride * height);
  await inTurns({ width, height }, (y) => {
    const start = y * (stride + 1) + 1;
    bytes.set(rows.subarray(start, start + stride), y * stride);
    unfilter(rows[start - 1] ?? 0, bytes, y * stride, stride);
  });
  return { width, height, bytes };
}

/** Adds to each byte of a row what its filter foretold from the bytes to the left, above, and above to the left. */
function unfilter(filter: number, bytes: Uint8Array, start: number, stride: number): void {
  const first = start === 0;
  for (let x = 0; x < stride && filter !== 0; x++) {
    const at = start + x;
    const left = x < BYTES_A_PIXEL ? 0 : (bytes[at - BYTES_A_PIXEL] ?? 0);
    const above = first ? 0 : (bytes[at - stride] ?? 0);
    const corner = first || x < BYTES_A_PIXEL ? 0 : (bytes[at - stride - BYTES_A_PIXEL] ?? 0);
    bytes[at] = (bytes[at] ?? 0) + foretold(filter, left, above, corner);
  }
}

function foretold(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const toLeft = Math.abs(above - corner);
  const toAbove = Math.abs(left - corner);
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/** Writes a PNG without alpha; `channels` bytes a pixel: one for grey, three for colour. */
export async function encodePng(
  { width, height }: PixelSize,
  channels: 1 | 3,
  paint: (target: Uint8Array, at: number, pixel: number) => void,
): Promise<Uint8Array> {
  const stride = width * channels + 1;
  const rows = new Uint8Array(stride * height);
  await inTurns({ width, height }, (y) => {
    for (let x = 0, at = y * stride + 1; x < width; x++, at += channels) paint(rows, at, y * width + x);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 1 ? GREY : COLOUR], 8);
  const data = await compress(rows, { level: 1 });
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", new Uint8Array())]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

/** Row by row, without holding up every other call for the length of a large picture. */
async function inTurns({ width, height }: PixelSize, doRow: (y: number) => void): Promise<void> {
  const rowsATurn = Math.max(1, Math.floor(PIXELS_A_TURN / width));
  for (let y = 0; y < height; y++) {
    doRow(y);
    if (y % rowsATurn === rowsATurn - 1) await new Promise((resolve) => setImmediate(resolve));
  }
}
