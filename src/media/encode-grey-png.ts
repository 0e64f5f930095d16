import { promisify } from "node:util";
import type { InputType, ZlibOptions } from "node:zlib";
import type { PixelSize } from "./image.ts";
import { eachRow } from "./pixels.ts";

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** A PNG in shades of grey. */
export async function encodeGreyPng(size: PixelSize, shade: (x: number, y: number) => number): Promise<Buffer> {
  const { width, height } = size;
  const stride = width + 1;
  const rows = new Uint8Array(stride * height);
  await eachRow(size, (y) => {
    for (let x = 0; x < width; x++) rows[y * stride + 1 + x] = shade(x, y);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const { deflate } = await import("node:zlib");
  const data = await promisify<InputType, ZlibOptions, Buffer>(deflate)(rows, { level: 1 });
  return Buffer.concat([
    SIGNATURE,
    ...chunk("IHDR", header),
    ...chunk("IDAT", data),
    ...chunk("IEND", new Uint8Array()),
  ]);
}

function chunk(type: string, data: Uint8Array): Uint8Array[] {
  const [length, name, check] = [Buffer.alloc(4), Buffer.from(type, "latin1"), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(Bun.hash.crc32(Buffer.concat([name, data])));
  return [length, name, data, check];
}
