import { GatewayError } from "../canon/error.ts";
import { withDecodeSlot } from "./decode-slots.ts";
import type { InlineImage } from "./image.ts";
import { inspectImage, MAX_PIXELS } from "./inspect-image.ts";
import { eachRow, readPixels } from "./pixels.ts";

const FORMATS: ReadonlyMap<string, "png" | "jpeg" | "webp"> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/webp", "webp"],
]);
const FULL_QUALITY = 100;

/** Converts a provider's image to the type that the client requested. `quality` is 0..100, and ignored for PNG. */
export async function convertImage(image: InlineImage, mimeType: string, quality = FULL_QUALITY): Promise<InlineImage> {
  const format = FORMATS.get(mimeType);
  if (format === undefined) throw new GatewayError("internal", `Images cannot be converted to ${mimeType}.`);
  const compresses = format !== "png" && quality < FULL_QUALITY;
  if (image.mimeType === mimeType && !compresses) return image;
  return await withDecodeSlot(async () => {
    try {
      const bytes = await converted(Buffer.from(image.base64, "base64"), format, quality);
      return { mimeType, base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64") };
    } catch (cause) {
      const problem = `The provider's image could not be converted to ${mimeType}.`;
      throw new GatewayError("upstream_failed", problem, { cause });
    }
  });
}

async function converted(bytes: Uint8Array, format: "png" | "jpeg" | "webp", quality: number): Promise<Uint8Array> {
  const level = { quality: Math.min(FULL_QUALITY, Math.max(1, Math.round(quality))) };
  const image = (source: Uint8Array) => new Bun.Image(source, { maxPixels: MAX_PIXELS });
  if (format === "png") return await image(bytes).png().bytes();
  if (format === "webp") return await image(bytes).webp(level).bytes();
  const facts = await inspectImage(bytes);
  return await image(facts?.alpha ? await onWhite(bytes) : bytes)
    .jpeg(level)
    .bytes();
}

/** `Bun.Image` writes the colour under transparent pixels into a JPEG, which is mostly black. */
async function onWhite(image: Uint8Array): Promise<Uint8Array> {
  const pixels = await readPixels(image);
  const { width, height, bytes, offset } = pixels;
  const { file, offset: target } = emptyBitmap(width, height);
  await eachRow(pixels, (y) => {
    for (let x = 0; x < width; x++) {
      const [from, to] = [offset(x, y), target(x, y)];
      const alpha = bytes[from + 3] ?? 255;
      for (let channel = 0; channel < 3; channel++) {
        file[to + 2 - channel] = Math.round(((bytes[from + channel] ?? 0) * alpha) / 255) + 255 - alpha;
      }
    }
  });
  return file;
}

/**
 * An empty Windows bitmap, the simplest file that `Bun.Image` reads: it has neither compression nor checksums, which are
 * slow on large images. Its rows run from bottom to top, and each pixel is blue, green, red.
 */
function emptyBitmap(width: number, height: number): { file: Uint8Array; offset: (x: number, y: number) => number } {
  const [header, stride] = [54, Math.ceil((width * 3) / 4) * 4];
  const file = Buffer.alloc(header + stride * height);
  file.write("BM", "latin1");
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(header, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  return { file, offset: (x, y) => header + (height - 1 - y) * stride + x * 3 };
}
