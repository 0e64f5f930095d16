import type { BodySource } from "./edit-body.ts";
import { parseExactly } from "./exact-number.ts";
import { endOfString } from "./json-text.ts";
import { type ParsingLoss, parsingLoss } from "./parsing-loss.ts";

/**
 * JSON whose objects keep the order of their keys, and whose numbers keep their digits. JavaScript puts keys that look like
 * array indices first, whatever the text says (H05): such keys carry a mark while they are in memory, and lose it when they
 * are written.
 */
const MARK = "\uFFFF";

const MARKED_KEY = new RegExp(`"${MARK}(\\d+)":`, "g");

/** Where no key and no number is in danger, a value that was parsed from the same text before is given back as it is. */
export function parseInOrder(text: string, parsed?: unknown): unknown {
  const { order, digits } = parsingLoss(text);
  const parse = digits ? parseExactly : JSON.parse;
  if (order) return parse(markKeys(text));
  return parsed === undefined || parse === parseExactly ? parse(text) : parsed;
}

/**
 * The same of a body whose bytes are held. All that is looked for is ASCII, which is the same where each byte is taken for a character;
 * the text is made only where it has to be parsed again.
 */
export function bodyInOrder(source: BodySource, parsed: unknown): unknown {
  const { bytes } = source;
  if (bytes !== undefined && keepsAll(parsingLoss(bytes.toString("latin1")))) return parsed;
  return parseInOrder(source.text, parsed);
}

const keepsAll = ({ order, digits }: ParsingLoss): boolean => !order && !digits;

export function stringifyInOrder(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes(MARK) ? text.replace(MARKED_KEY, '"$1":') : text;
}

const COLON = /\s*:/y;
const DIGITS = /\d+"/y;

/** String by string: a pattern for all of a string would take a turn for each of its characters, and some hold images (S18). */
function markKeys(text: string): string {
  let marked = "";
  let copied = 0;
  for (let quote = text.indexOf('"'); quote >= 0; ) {
    const start = quote + 1;
    const end = endOfString(text, start);
    if (matchesAt(DIGITS, text, start) && matchesAt(COLON, text, end)) {
      marked += text.slice(copied, start) + MARK;
      copied = start;
    }
    quote = text.indexOf('"', end);
  }
  return marked + text.slice(copied);
}

/** Only a key has a colon after it. */
function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
