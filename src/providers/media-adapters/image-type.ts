/** The first characters of each format in base64, which are its first bytes. WebP is the only RIFF that is an image. */
const BEGINNINGS: readonly (readonly [beginning: string, mimeType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["UklGR", "image/webp"],
  ["R0lGOD", "image/gif"],
];

/** The type of an image by its first bytes, else the type that the host reports, else PNG. */
export function imageType(base64: string, reported: string | undefined): string {
  return BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1] ?? reported ?? "image/png";
}
