import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, endOfString, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./json-text.ts";

/**
 * Whether a JSON text holds more values than `most`. Parsing many tiny values takes seconds and a hundred times the memory of the
 * text; this scans string by string and stops at the limit (S18).
 */
export const holdsMoreValues = (text: string, most: number): boolean => boundOf(text, { values: most }) !== undefined;

/** The most of each in a JSON text. */
interface JsonBounds {
  readonly values: number;
  readonly keys?: number;
  /** In a single object. Its parser is slower the more it has. */
  readonly objectKeys?: number;
}

/** No member is written in fewer characters. */
const MEMBER = `"":0,`.length;
const ARRAY = -1;

/** The bound that a JSON text exceeds; undefined if it is within all of them. Nothing is parsed (S25). */
export function boundOf(
  text: string,
  { values: most, keys: mostKeys = Number.POSITIVE_INFINITY, objectKeys = mostKeys }: JsonBounds,
): keyof JsonBounds | undefined {
  // Every value except the first follows a comma or a bracket.
  const countsKeys = text.length > MEMBER * Math.min(mostKeys, objectKeys);
  if (text.length <= most && !countsKeys) return undefined;
  let values = 1;
  let keys = 0;
  /** The keys so far of the objects that are open. */
  const open: number[] = [];
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    at = code === QUOTE ? endOfString(text, at + 1) : at + 1;
    if ((code === COMMA || code === OPEN_OBJECT || code === OPEN_ARRAY) && ++values > most) return "values";
    if (!countsKeys) continue;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) open.push(code === OPEN_OBJECT ? 0 : ARRAY);
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop();
    else if (code === COLON) {
      if (++keys > mostKeys) return "keys";
      const own = (open.pop() ?? 0) + 1;
      if (own > objectKeys) return "objectKeys";
      open.push(own);
    }
  }
  return undefined;
}
