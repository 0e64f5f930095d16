const PADDING = 0x3d;

/** The bytes of base64, or undefined if it is not base64. Both alphabets are accepted, because one SDK writes the URL-safe one. */
export function decodeAudio(base64: string): Uint8Array | undefined {
  const bytes = Buffer.from(base64, "base64");
  // The decoder skips foreign characters, so that they show in the length.
  return bytes.length === audioBytes(base64) ? bytes : undefined;
}

/** How many bytes the base64 has, by its length. */
export function audioBytes(base64: string): number {
  let { length } = base64;
  while (length > 0 && base64.charCodeAt(length - 1) === PADDING) length--;
  return Math.floor((length * 3) / 4);
}
