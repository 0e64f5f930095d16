/** Media types by the first characters of their base64. */
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{6}XRUJQ/, "image/webp"],
  [/^UklGR.{6}XQVZF/, "audio/wav"],
  [/^JVBERi0/, "application/pdf"],
  [/^(?:SUQz|\/\/[tsuv])/, "audio/mpeg"],
  [/^T2dnUw/, "audio/ogg"],
  [/^AAAA.{2}(?:Z0eX|mZ0e|GZ0e|ZnR5)/, "video/mp4"],
];

/** Undefined if the type is unknown. */
export const mediaTypeOf = (base64: string): string | undefined =>
  TYPES.find(([beginning]) => beginning.test(base64.slice(0, 40)))?.[1];
