import { mayRound, parseExactly } from "./exact-number.ts";

/**
 * JSON whose objects keep the order of their keys, and whose numbers keep their digits. JavaScript puts keys that look like
 * array indices first, whatever the text says (H05): such keys carry a mark while they are in memory, and lose it when they
 * are written.
 */
const MARK = "\uFFFF";

const INDEX_KEY = /"\d+"\s*:/;
const MARKED_KEY = new RegExp(`"${MARK}(\\d+)":`, "g");
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/** Where no key and no number is in danger, a value that was parsed from the same text before is given back as it is. */
export function parseInOrder(text: string, parsed?: unknown): unknown {
  const parse = mayRound(text) ? parseExactly : JSON.parse;
  if (INDEX_KEY.test(text)) return parse(text.replace(STRING, markKey));
  return parsed === undefined || parse === parseExactly ? parse(text) : parsed;
}

export function stringifyInOrder(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes(MARK) ? text.replace(MARKED_KEY, '"$1":') : text;
}

/** Only a key has a colon after it. */
function markKey(token: string, colon: string | undefined): string {
  if (colon === undefined) return token;
  const key = token.slice(1, -1 - colon.length);
  return /^\d+$/.test(key) ? `"${MARK}${key}"${colon}` : token;
}
