import { promisify } from "node:util";
import { crc32, deflate, inflateSync } from "node:zlib";
import { Canvas } from "./canvas.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const COLOUR = 2;
const COLOUR_WITH_ALPHA = 6;
/** Bytes of a pixel, by the colour type of the header. */
const CHANNELS: Record<number, number> = { 0: 1, [COLOUR]: 3, 4: 2, [COLOUR_WITH_ALPHA]: 4 };
const UP = 2;
const compress = promisify<Uint8Array, { level: number }, Uint8Array>(deflate);

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

/** Each row as its difference from the row above: flat areas become zeros, which compress fast. */
function filteredRows(canvas: Canvas, channels: number): Uint8Array {
  const { width, height, bytes } = canvas;
  const pixels = new Uint32Array(bytes.buffer);
  const all = Buffer.from(bytes.buffer);
  const stride = width * 4;
  const rows = new Uint8Array((width * channels + 1) * height);
  for (let y = 0; y < height; y++) {
    let at = y * (width * channels + 1);
    rows[at++] = UP;
    const start = y * stride;
    // Most rows are the one above them, and their differences are zeros already; so are those of most pixels of the others.
    if (y > 0 && all.compare(all, start - stride, start, start, start + stride) === 0) continue;
    for (let pixel = y * width; pixel < (y + 1) * width; pixel++, at += channels) {
      if (y > 0 && pixels[pixel] === pixels[pixel - width]) continue;
      for (let channel = 0; channel < channels; channel++) {
        const above = y === 0 ? 0 : (bytes[(pixel - width) * 4 + channel] ?? 0);
        rows[at + channel] = (bytes[pixel * 4 + channel] ?? 0) - above;
      }
    }
  }
  return rows;
}

export async function encodePng(canvas: Canvas, alpha: boolean): Promise<Uint8Array> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(canvas.width, 0);
  header.writeUInt32BE(canvas.height, 4);
  header.set([8, alpha ? COLOUR_WITH_ALPHA : COLOUR], 8);
  const data = await compress(filteredRows(canvas, alpha ? 4 : 3), { level: 1 });
  const chunks = [chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", new Uint8Array())];
  return new Uint8Array(Buffer.concat([Uint8Array.from(SIGNATURE), ...chunks]));
}

/** What a filter adds to a byte, from the bytes to the left, above, and above to the left. */
function predicted(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const estimate = left + above - corner;
      const toLeft = Math.abs(estimate - left);
      const toAbove = Math.abs(estimate - above);
      const toCorner = Math.abs(estimate - corner);
      if (toLeft <= toAbove && toLeft <= toCorner) return left;
      return toAbove <= toCorner ? above : corner;
    }
    default:
      return 0;
  }
}

/** Reads the plain form that `Bun.Image` writes: eight bits a channel, no palette, not interlaced. */
export function decodePng(png: Uint8Array): Canvas {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  const parts: Uint8Array[] = [];
  for (let at = SIGNATURE.length; at + 12 <= bytes.length; at += bytes.readUInt32BE(at) + 12) {
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "IDAT") parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  const channels = CHANNELS[bytes.readUInt8(25)];
  if (bytes.readUInt8(24) !== 8 || channels === undefined || bytes.readUInt8(28) !== 0) {
    throw new Error("this PNG is not in the plain form that Bun.Image writes");
  }
  const canvas = new Canvas(bytes.readUInt32BE(16), bytes.readUInt32BE(20));
  const rows = inflateSync(Buffer.concat(parts));
  const stride = canvas.width * channels;
  for (let y = 0; y < canvas.height; y++) {
    const start = y * (stride + 1) + 1;
    const filter = rows[start - 1] ?? 0;
    for (let x = 0; filter !== 0 && x < stride; x++) {
      const left = x < channels ? 0 : (rows[start + x - channels] ?? 0);
      const above = y === 0 ? 0 : (rows[start + x - stride - 1] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (rows[start + x - stride - 1 - channels] ?? 0);
      rows[start + x] = (rows[start + x] ?? 0) + predicted(filter, left, above, corner);
    }
    // Green and blue are where red is in a grey image.
    const [green, blue] = channels > 2 ? [1, 2] : [0, 0];
    let to = y * canvas.width * 4;
    for (let from = start; from < start + stride; from += channels, to += 4) {
      canvas.bytes[to] = rows[from] ?? 0;
      canvas.bytes[to + 1] = rows[from + green] ?? 0;
      canvas.bytes[to + 2] = rows[from + blue] ?? 0;
      canvas.bytes[to + 3] = channels % 2 === 0 ? (rows[from + channels - 1] ?? 0) : 255;
    }
  }
  return canvas;
}
