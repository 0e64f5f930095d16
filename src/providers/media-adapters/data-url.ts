import type { InlineImage } from "../../media/image.ts";

/** An image as a data URL, for hosts that take a URL or the image itself in one field. */
export function dataUrl({ mimeType, base64 }: InlineImage): string {
  return `data:${mimeType.toLowerCase()};base64,${base64}`;
}
