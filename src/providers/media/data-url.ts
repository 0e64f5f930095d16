import type { InlineImage } from "../../media/image.ts";

/** The form of an image for hosts that take an address or the image itself in one field. */
export function dataUrl({ mimeType, base64 }: InlineImage): string {
  return `data:${mimeType.toLowerCase()};base64,${base64}`;
}
