import { COMMA, endOfString, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./json-text.ts";

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
