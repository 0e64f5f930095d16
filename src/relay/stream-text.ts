/** What a client is sent of a stream: text, or bytes of UTF-8 where nothing had to be decoded. */
export type StreamText = string | Uint8Array;

/** One behind the other. Nearly always one of them is empty. */
export function joinTexts(first: StreamText, second: StreamText): StreamText {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  if (typeof first === "string" && typeof second === "string") return first + second;
  return Buffer.concat([Buffer.from(first), Buffer.from(second)]);
}
