/**
 * Numbers of JSON that a double does not hold, such as the 64-bit ids of databases: JavaScript would round them silently. Each
 * becomes its own text while it is in memory, which `JSON.stringify` writes as it was read. Such a value is an object to
 * `typeof`; `isObject` and `numberOf` of the canon handle it.
 */

/** What the runtime's JSON does beyond the compiler's library. */
interface ExactJson {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
}
const json = JSON as unknown as ExactJson;

export const parseExactly = (text: string): unknown => json.parse(text, keepDigits);

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value !== "number" || source === undefined || isHeld(value, source) ? value : json.rawJSON(source);
}

/** Longer than any spelling that a program chooses for a double; longer numbers are kept without inspection. */
const MAX_DOUBLE_LENGTH = 40;

/** An integer keeps its spelling, since readers distinguish it from `1e+21`; for other numbers the value is enough. */
function isHeld(value: number, source: string): boolean {
  const written = String(value);
  if (written === source) return true;
  return source.length <= MAX_DOUBLE_LENGTH && /[.e]/i.test(source) && digitsOf(written) === digitsOf(source);
}

const digitsOf = (number: string): string => number.replace(/e.*|\D/gi, "").replace(/^0+|0+$/g, "");
