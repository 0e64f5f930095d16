import type { BodySource } from "./edit-body.ts";
import { parseExactly } from "./exact-number.ts";
import { endOfString } from "./json-text.ts";
import { type ParsingLoss, parsingLoss } from "./parsing-loss.ts";

/**
 * JSON whose objects keep the order of their keys and whose numbers keep their digits. JavaScript puts keys that look like array
 * indices first (H05), so such keys carry a mark in memory, which is removed when they are written.
 */
const MARK = "\uFFFF";

const MARKED_KEY = new RegExp(`"${MARK}(\\d+)":`, "g");

/** If neither the order of keys nor digits are at risk, returns `parsed`, the value already parsed from the same text. */
export function parseInOrder(text: string, parsed?: unknown): unknown {
  const { order, digits } = parsingLoss(text);
  const parse = digits ? parseExactly : JSON.parse;
  if (order) return parse(markKeys(text));
  return parsed === undefined || parse === parseExactly ? parse(text) : parsed;
}

/**
 * The same for a body held as bytes. The scan looks for ASCII only, so it works on Latin-1; the text is made only if it must be
 * parsed again.
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

/** Scans string by string. A pattern for whole strings would step through every character, and some strings are images (S18). */
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

/** Tests a pattern at one offset. Only keys are followed by a colon. */
function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
