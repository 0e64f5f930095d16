import type { InlineImage } from "./image.ts";

/** An image as its client receives it: the bytes, or, above the inline limit, their URL. */
export type DeliveredImage = InlineImage | StoredImage;

interface StoredImage {
  url: string;
  mimeType: string;
}
