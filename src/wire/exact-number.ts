/**
 * Numbers of JSON that a double does not hold, such as the 64-bit ids of databases: JavaScript would round them without a
 * word. Each becomes its own text while it is in memory, which `JSON.stringify` writes as it was read. Such a value is an
 * object to `typeof`; `isObject` and `numberOf` of the canon know better.
 */

/** What the runtime's JSON does beyond the compiler's library. */
interface ExactJson {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
}
const json = JSON as unknown as ExactJson;

/** Fifteen digits always come back as they were, and so do exponents of two. */
const LONG = /\d[\d.]{15}/;
const FAR = /\d[eE][+-]?\d{3,}[\s,\]}]/;

/** Whether a JSON text may hold such a number. Some that hold none are taken for one that does. */
export const mayRound = (text: string): boolean => LONG.test(text) || FAR.test(text);

export const parseExactly = (text: string): unknown => json.parse(text, keepDigits);

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value !== "number" || source === undefined || isHeld(value, source) ? value : json.rawJSON(source);
}

/** Longer than any spelling that a program chooses for a double; what is longer is not looked into, but kept. */
const MAX_DOUBLE_LENGTH = 40;

/** A whole number keeps its spelling, since readers tell it from `1e+21` by that; of all others the value is enough. */
function isHeld(value: number, source: string): boolean {
  const written = String(value);
  if (written === source) return true;
  return source.length <= MAX_DOUBLE_LENGTH && /[.e]/i.test(source) && digitsOf(written) === digitsOf(source);
}

const digitsOf = (number: string): string => number.replace(/e.*|\D/gi, "").replace(/^0+|0+$/g, "");
