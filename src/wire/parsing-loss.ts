import { endOfString, isSpace, QUOTE } from "./json-text.ts";

/** What a JSON text says that `JSON.parse` may not keep; there are false positives. */
export interface ParsingLoss {
  /** A key that looks like an array index: JavaScript puts it before the others (H05). */
  order: boolean;
  /** A number that a double may not hold. */
  digits: boolean;
}

const NOTHING: ParsingLoss = { order: false, digits: false };

/** Up to here a number always survives; a point counts as one more digit. */
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
 * Only what stands between strings is looked at, character by character; the runtime finds where each string ends. So a long text
 * costs little, and digits inside one, of which agents' texts are full, are not taken for a number. What is not JSON gets some answer.
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

/** Where the digits of the exponent begin; `from` where there is none. */
function startOfExponent(text: string, from: number): number {
  const code = text.charCodeAt(from);
  if (code !== LOWER_E && code !== UPPER_E) return from;
  const sign = text.charCodeAt(from + 1);
  return sign === MINUS || sign === PLUS ? from + 2 : from + 1;
}
