import { COMMA, endOfString, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./json-text.ts";

/**
 * Whether a JSON text holds more values than `most`. Parsing many tiny values takes seconds and a hundred times the memory of the
 * text; this scans string by string and stops at the limit (S18).
 */
export function holdsMoreValues(text: string, most: number): boolean {
  // Every value except the first follows a comma or a bracket.
  if (text.length <= most) return false;
  let values = 1;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    at = code === QUOTE ? endOfString(text, at + 1) : at + 1;
    if ((code === COMMA || code === OPEN_OBJECT || code === OPEN_ARRAY) && ++values > most) return true;
  }
  return false;
}
