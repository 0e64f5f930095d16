import { promisify } from "node:util";
import type { InputType, ZlibOptions } from "node:zlib";
import { GatewayError } from "../canon/error.ts";
import { withDecodeSlot } from "./decode-slots.ts";
import type { InlineImage, PixelSize } from "./image.ts";
import { eachRow, readPixels } from "./pixels.ts";

const HALF = 128;

/** Clients mark the area to edit as transparent. Some hosts need it in white on black. */
export async function whiteMask(mask: InlineImage): Promise<InlineImage> {
  return await withDecodeSlot(async () => {
    try {
      const pixels = await readPixels(Buffer.from(mask.base64, "base64"));
      const { bytes, offset } = pixels;
      const png = await encodeGreyPng(pixels, (x, y) => ((bytes[offset(x, y) + 3] ?? 255) < HALF ? 255 : 0));
      return { mimeType: "image/png", base64: png.toString("base64") };
    } catch (cause) {
      throw new GatewayError("invalid_request", "The mask could not be decoded; send it as a PNG.", { cause });
    }
  });
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** A PNG in shades of grey. */
async function encodeGreyPng(size: PixelSize, shade: (x: number, y: number) => number): Promise<Buffer> {
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
