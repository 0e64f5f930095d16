import type { Picture } from "../../media/picture.ts";

/** The form of a picture for hosts that take an address or the picture itself in one field. */
export function dataUrl({ mimeType, base64 }: Picture): string {
  return `data:${mimeType.toLowerCase()};base64,${base64}`;
}
