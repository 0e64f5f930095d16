import { endOfString, isSpace, QUOTE } from "./json-text.ts";

/** What `JSON.parse` may lose of a JSON text. There are false positives. */
export interface ParsingLoss {
  /** A key looks like an array index, which JavaScript puts before other keys (H05). */
  order: boolean;
  /** A number may not fit a double. */
  digits: boolean;
}

const NOTHING: ParsingLoss = { order: false, digits: false };

/** A number of this many digits always fits; a decimal point counts as one. */
const SAFE_DIGITS = 15;
const SAFE_EXPONENT_DIGITS = 2;

const COLON = 0x3a;
const DOT = 0x2e;
const MINUS = 0x2d;
const PLUS = 0x2b;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/**
 * Only the text between strings is examined character by character; the runtime finds the end of each string. Long strings are
 * therefore cheap, and digits inside them do not count as numbers. For invalid JSON the result is unspecified.
 */
export function parsingLoss(text: string): ParsingLoss {
  let order = false;
  let digits = false;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at + 1);
      if (!order && isDigit(text.charCodeAt(at + 1))) order = isIndexKey(text, at + 1, end);
      at = end;
    } else if (isDigit(code)) {
      const end = endOfDigits(text, at);
      const exponent = startOfExponent(text, end);
      const last = exponent === end ? end : endOfDigits(text, exponent);
      if (end - at > SAFE_DIGITS || last - exponent > SAFE_EXPONENT_DIGITS) digits = true;
      at = last;
    } else at++;
  }
  return order || digits ? { order, digits } : NOTHING;
}

/** `start` is after the opening quote, `end` after the closing one. */
function isIndexKey(text: string, start: number, end: number): boolean {
  for (let at = start; at < end - 1; at++) if (!isDigit(text.charCodeAt(at))) return false;
  let after = end;
  while (isSpace(text.charCodeAt(after))) after++;
  return text.charCodeAt(after) === COLON;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); isDigit(code) || code === DOT; ) code = text.charCodeAt(++at);
  return at;
}

/** The offset of the exponent's digits; `from` if it has no exponent. */
function startOfExponent(text: string, from: number): number {
  const code = text.charCodeAt(from);
  if (code !== LOWER_E && code !== UPPER_E) return from;
  const sign = text.charCodeAt(from + 1);
  return sign === MINUS || sign === PLUS ? from + 2 : from + 1;
}
