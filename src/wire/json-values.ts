import { endOfString } from "./json-text.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;

/**
 * Whether a JSON text holds more values than this. The parser takes some hundred times the memory of a text of tiny values
 * for them, and seconds; here the text is walked over, string by string, and no further than the bound (S18).
 */
export function holdsMoreValues(text: string, most: number): boolean {
  // Each value but the first has a comma or a bracket before it.
  if (text.length <= most) return false;
  let values = 1;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    at = code === QUOTE ? endOfString(text, at + 1) : at + 1;
    if ((code === COMMA || code === OPEN_OBJECT || code === OPEN_ARRAY) && ++values > most) return true;
  }
  return false;
}
