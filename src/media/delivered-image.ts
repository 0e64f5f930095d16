import type { InlineImage } from "./image.ts";

/** An image as a client is given it: the bytes, or, above the inline limit, where they are kept. */
export type DeliveredImage = InlineImage | StoredImage;

export interface StoredImage {
  url: string;
  mimeType: string;
}
