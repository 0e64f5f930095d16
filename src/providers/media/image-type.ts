/** The first characters of each format's base64: they spell its first bytes. WebP is the only RIFF that is an image. */
const BEGINNINGS: readonly (readonly [beginning: string, mimeType: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["UklGR", "image/webp"],
  ["R0lGOD", "image/gif"],
];

/** What an image is by its own first bytes; where they say nothing, what the host told, and else PNG. */
export function imageType(base64: string, told: string | undefined): string {
  return BEGINNINGS.find(([beginning]) => base64.startsWith(beginning))?.[1] ?? told ?? "image/png";
}
