/**
 * JSON numbers that do not fit a double, such as 64-bit database ids, which JavaScript would round silently. Each is kept in
 * memory as its own text, which `JSON.stringify` writes unchanged. `typeof` reports such a value as an object; `isObject` and
 * `numberOf` of the canon handle it.
 */

/** Features of the runtime's JSON that the compiler's library lacks. */
interface ExactJson {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
}
const json = JSON as unknown as ExactJson;

export const parseExactly = (text: string): unknown => json.parse(text, keepDigits);

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value !== "number" || source === undefined || isHeld(value, source) ? value : json.rawJSON(source);
}

/** Longer than any usual spelling of a double. Longer numbers are kept as text without a closer look. */
const MAX_DOUBLE_LENGTH = 40;

/** An integer keeps its spelling, since some readers distinguish it from `1e+21`. For other numbers an equal value is enough. */
function isHeld(value: number, source: string): boolean {
  const written = String(value);
  if (written === source) return true;
  return source.length <= MAX_DOUBLE_LENGTH && /[.e]/i.test(source) && digitsOf(written) === digitsOf(source);
}

const digitsOf = (number: string): string => number.replace(/e.*|\D/gi, "").replace(/^0+|0+$/g, "");
