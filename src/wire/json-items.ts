import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  isSpace,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "./json-text.ts";

/** Nothing that is read from a response is nested deeper. */
const MAX_DEPTH = 12;

/**
 * Whether the arrays of a JSON text hold more than `most` objects and arrays, not counting members named in `uncounted`. The text
 * is scanned rather than parsed: parsing many megabytes takes longer than everything else done with them (S18).
 */
export function holdsMoreItems(text: string, most: number, uncounted: ReadonlySet<string>): boolean {
  /** Whether each open bracket is an array, outermost first. */
  const lists: boolean[] = [];
  /** The depth of the member that is not counted; 0 outside of one. */
  let uncountedDepth = 0;
  let items = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at + 1);
      const isKey = lists.at(-1) === false && uncountedDepth === 0 && uncounted.has(text.slice(at + 1, end - 1));
      if (isKey && isBeforeColon(text, end)) uncountedDepth = lists.length;
      at = end;
      continue;
    }
    at++;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const counts = uncountedDepth === 0 && lists.length <= MAX_DEPTH && lists.at(-1) === true;
      if (counts && ++items > most) return true;
      lists.push(code === OPEN_ARRAY);
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      lists.pop();
      if (lists.length < uncountedDepth) uncountedDepth = 0;
    } else if (code === COMMA && lists.length === uncountedDepth) uncountedDepth = 0;
  }
  return false;
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === COLON;
}
