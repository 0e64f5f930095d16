import { GatewayError } from "../canon/error.ts";
import { inspectPicture, MAX_PIXELS } from "./inspect-picture.ts";
import type { Picture } from "./picture.ts";
import { pictureWork } from "./picture-work.ts";
import { decodePng, encodePng } from "./png-pixels.ts";

const FORMATS = { "image/png": "png", "image/jpeg": "jpeg", "image/webp": "webp" } as const;
const FULL_QUALITY = 100;

/** A provider's picture as the type that the client asked for. `quality` is 0..100, and nothing to PNG. */
export async function convertPicture(picture: Picture, mimeType: string, quality = FULL_QUALITY): Promise<Picture> {
  const format = FORMATS[mimeType as keyof typeof FORMATS];
  if (format === undefined) throw new GatewayError("internal", `Pictures cannot be converted to ${mimeType}.`);
  const compresses = format !== "png" && quality < FULL_QUALITY;
  if (picture.mimeType === mimeType && !compresses) return picture;
  return await pictureWork(async () => {
    try {
      const bytes = await converted(Buffer.from(picture.base64, "base64"), format, quality);
      return { mimeType, base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64") };
    } catch (cause) {
      const problem = `The provider's picture could not be converted to ${mimeType}.`;
      throw new GatewayError("upstream_failed", problem, { cause });
    }
  });
}

async function converted(bytes: Uint8Array, format: "png" | "jpeg" | "webp", quality: number): Promise<Uint8Array> {
  const level = { quality: Math.min(FULL_QUALITY, Math.max(1, Math.round(quality))) };
  const image = (source: Uint8Array) => new Bun.Image(source, { maxPixels: MAX_PIXELS });
  if (format === "png") return await image(bytes).png().bytes();
  if (format === "webp") return await image(bytes).webp(level).bytes();
  const facts = await inspectPicture(bytes);
  return await image(facts?.alpha ? await onWhite(bytes) : bytes)
    .jpeg(level)
    .bytes();
}

/** `Bun.Image` shows in a JPEG whatever colour lies under the transparent pixels, which is mostly black. */
async function onWhite(bytes: Uint8Array): Promise<Uint8Array> {
  const plain = await new Bun.Image(bytes, { maxPixels: MAX_PIXELS }).png({ compressionLevel: 1 }).bytes();
  const pixels = await decodePng(plain);
  const source = pixels.bytes;
  return await encodePng(pixels, 3, (target, at, pixel) => {
    const alpha = source[pixel * 4 + 3] ?? 255;
    const ground = 255 - alpha;
    for (let channel = 0; channel < 3; channel++) {
      const colour = source[pixel * 4 + channel] ?? 0;
      target[at + channel] = Math.round((colour * alpha) / 255) + ground;
    }
  });
}
