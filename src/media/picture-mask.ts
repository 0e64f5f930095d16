import { GatewayError } from "../canon/error.ts";
import { MAX_PIXELS } from "./inspect-picture.ts";
import type { Picture } from "./picture.ts";
import { pictureWork } from "./picture-work.ts";
import { decodePng, encodePng } from "./png-pixels.ts";

const HALF = 128;

/** A client's mask, which is transparent where the picture is to be changed, in the form of hosts that want white there and black elsewhere. */
export async function whiteMask(mask: Picture): Promise<Picture> {
  return await pictureWork(async () => {
    try {
      const image = new Bun.Image(Buffer.from(mask.base64, "base64"), { maxPixels: MAX_PIXELS });
      const pixels = await decodePng(await image.png({ compressionLevel: 1 }).bytes());
      const png = await encodePng(pixels, 1, (target, at, pixel) => {
        target[at] = (pixels.bytes[pixel * 4 + 3] ?? 255) < HALF ? 255 : 0;
      });
      return { mimeType: "image/png", base64: Buffer.from(png.buffer, png.byteOffset, png.length).toString("base64") };
    } catch (cause) {
      throw new GatewayError("invalid_request", "The mask could not be decoded; send it as a PNG.", { cause });
    }
  });
}
