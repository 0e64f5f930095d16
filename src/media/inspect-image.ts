import { GatewayError } from "../canon/error.ts";
import type { PixelSize } from "./image.ts";

/** The facts of an image that its bytes show. */
export interface ImageFacts extends PixelSize {
  mimeType: string;
  /** It can be transparent somewhere. */
  alpha: boolean;
}

/** No larger image is decoded: a pixel takes four bytes of memory, however small the file is. */
export const MAX_PIXELS = 64 * 1024 * 1024;

/** Nearly all headers fit into this many bytes, so that a large image need not be decoded from base64. */
const FIRST_BYTES = 48 * 1024;
const SIGNATURE_LENGTH = 8;
const PNG_WITH_ALPHA = [4, 6];

/**
 * Reads only an image's headers. Undefined if the bytes are not an image. Throws if the image has more pixels than the gateway
 * would ever decode.
 */
export async function inspectImage(image: Uint8Array | string): Promise<ImageFacts | undefined> {
  const first = typeof image === "string" ? base64Bytes(image, FIRST_BYTES) : image.subarray(0, FIRST_BYTES);
  const found = await readHeaders(first);
  if (found !== undefined || first.length < FIRST_BYTES) return found;
  return await readHeaders(typeof image === "string" ? Buffer.from(image, "base64") : image);
}

const base64Bytes = (base64: string, length: number): Buffer =>
  Buffer.from(base64.slice(0, Math.ceil(length / 3) * 4), "base64").subarray(0, length);

async function readHeaders(bytes: Uint8Array): Promise<ImageFacts | undefined> {
  let metadata: Bun.Image.Metadata;
  try {
    metadata = await new Bun.Image(bytes, { maxPixels: Number.MAX_SAFE_INTEGER, autoOrient: false }).metadata();
  } catch {
    // Whatever the codec's reason: these bytes do not begin a readable image.
    return undefined;
  }
  const { width, height, format } = metadata;
  if (width * height > MAX_PIXELS) {
    const problem = `The image has ${width} x ${height} pixels; at most ${MAX_PIXELS} pixels are allowed.`;
    throw new GatewayError("invalid_request", problem);
  }
  return { mimeType: `image/${format}`, width, height, alpha: hasAlpha(bytes, format) };
}

function hasAlpha(bytes: Uint8Array, format: string): boolean {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (format === "png") return PNG_WITH_ALPHA.includes(view[25] ?? 0) || hasTransparency(view);
  return format === "webp" && webpHasAlpha(view);
}

/** A palette, or one colour, may be declared transparent by a chunk before the pixels. */
function hasTransparency(png: Buffer): boolean {
  for (let at = SIGNATURE_LENGTH; at + 8 <= png.length; at += png.readUInt32BE(at) + 12) {
    const type = png.toString("latin1", at + 4, at + 8);
    if (type === "tRNS") return true;
    if (type === "IDAT") return false;
  }
  return false;
}

/** The extended form has a flag among its features, the lossless one a bit after its size; the plain one has no alpha. */
function webpHasAlpha(webp: Buffer): boolean {
  const kind = webp.toString("latin1", 12, 16);
  if (kind === "VP8X") return ((webp[20] ?? 0) & 0x10) !== 0;
  return kind === "VP8L" && ((webp[24] ?? 0) & 0x10) !== 0;
}
