/**
 * What a client is sent of a stream: text, or bytes of UTF-8 where nothing had to be decoded. Bytes may lie in room that is
 * used again: they are written within the turn, or kept by `joinTexts`.
 */
export type StreamText = string | Uint8Array;

/** One behind the other, to be kept. Nearly always one of them is empty. */
export function joinTexts(first: StreamText, second: StreamText): StreamText {
  if (second.length === 0) return first;
  if (typeof first === "string" && typeof second === "string") return first + second;
  if (first.length === 0) return Buffer.from(second);
  return Buffer.concat([asBytes(first), asBytes(second)]);
}

const asBytes = (text: StreamText): Uint8Array => (typeof text === "string" ? Buffer.from(text) : text);
