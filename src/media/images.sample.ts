import { crc32, deflateSync } from "node:zlib";
import type { InlineImage } from "./image.ts";

/** A PNG of given rows, each of which begins with the number of its filter. */
function pngOfRows(width: number, height: number, channels: 3 | 4, rows: Uint8Array): InlineImage {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, channels === 3 ? 2 : 6], 8);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", new Uint8Array())];
  const file = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...chunks]);
  return { mimeType: "image/png", base64: file.toString("base64") };
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** A red PNG without alpha. */
export function plainPng(width: number, height: number): InlineImage {
  const rows = new Uint8Array((width * 3 + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows.set([200, 30, 30], y * (width * 3 + 1) + 1 + x * 3);
  }
  return pngOfRows(width, height, 3, rows);
}

/** A PNG whose header claims this size, and whose pixels are few. */
export function claimedPng(width: number, height: number): InlineImage {
  const file = Buffer.from(plainPng(1, 1).base64, "base64");
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
  return { mimeType: "image/png", base64: file.toString("base64") };
}

/** A PNG whose left half is black and transparent, and whose right half is the same red. */
export function halfTransparent(width: number, height: number): InlineImage {
  const rows = new Uint8Array((width * 4 + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = width / 2; x < width; x++) rows.set([200, 30, 30, 255], y * (width * 4 + 1) + 1 + x * 4);
  }
  return pngOfRows(width, height, 4, rows);
}

/** The same image in another file format, by the runtime's own codec. */
export async function recoded(image: InlineImage, format: "jpeg" | "webp"): Promise<InlineImage> {
  const decoded = new Bun.Image(Buffer.from(image.base64, "base64"));
  const base64 = (await decoded[format]().buffer()).toString("base64");
  return { mimeType: `image/${format}`, base64 };
}
