import { GatewayError } from "../canon/error.ts";
import { withDecodeSlot } from "./decode-slots.ts";
import { encodeGreyPng } from "./encode-grey-png.ts";
import type { InlineImage } from "./image.ts";
import { readPixels } from "./pixels.ts";

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
