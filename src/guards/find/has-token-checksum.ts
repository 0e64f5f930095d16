const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM_LENGTH = 6;

/** Whether a token of the form `prefix_` + random characters ends in the CRC-32 of those characters, in base 62. */
export function hasTokenChecksum(token: string): boolean {
  const body = token.slice(token.lastIndexOf("_") + 1);
  if (body.length <= CHECKSUM_LENGTH) return false;
  let sum = Bun.hash.crc32(body.slice(0, -CHECKSUM_LENGTH));
  let written = "";
  for (let count = 0; count < CHECKSUM_LENGTH; count++) {
    written = DIGITS.charAt(sum % DIGITS.length) + written;
    sum = Math.floor(sum / DIGITS.length);
  }
  return body.endsWith(written);
}
