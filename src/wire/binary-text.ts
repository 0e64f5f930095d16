/**
 * Binary text: a string in which each character stands for one byte of UTF-8. It is cut, searched and joined as fast as plain
 * ASCII whatever its language, and made from bytes, or turned into them, without any decoding.
 */
const decoder = new TextDecoder();
const NOT_ASCII = /[^\0-\x7f]/;

export const binaryOfBytes = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

export const bytesOfBinary = (binary: string): Buffer => Buffer.from(binary, "latin1");

export const binaryOfText = (text: string): string =>
  NOT_ASCII.test(text) ? Buffer.from(text).toString("latin1") : text;

export const textOfBinary = (binary: string): string =>
  NOT_ASCII.test(binary) ? decoder.decode(bytesOfBinary(binary)) : binary;

/** How many characters of text the bytes between two places are: those that do not go on with another. */
export function countCharacters(binary: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if ((binary.charCodeAt(at) & 0xc0) !== 0x80) count++;
  return count;
}
