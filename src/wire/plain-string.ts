const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** Where the closing quote stands of a JSON string without escapes, whose characters begin at `from`; -1 where it has any. */
export function endOfPlainString(view: DataView, from: number): number {
  for (let at = from; at < view.byteLength; at++) {
    const byte = view.getUint8(at);
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte < SPACE) return -1;
  }
  return -1;
}
