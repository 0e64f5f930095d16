import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  endOfString,
  isSpace,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from "./json-text.ts";

/**
 * A key that occurs twice in one object means one thing to a parser that takes the last and another to one that takes the
 * first (S15). Parsing cannot tell: it keeps one of them. So the members are counted in the text and in what was parsed of it;
 * only where the figures differ is the text walked through.
 */
export function findRepeatedKey(text: string, parsed: unknown): RepeatedKey | undefined {
  return membersAtMost(text) === countKeys(parsed, MAX_DEPTH) ? undefined : walk(text);
}

export interface RepeatedKey {
  key: string;
  /** The path of the object that has it twice. */
  path: readonly (string | number)[];
}

const COLON = 0x3a;

/**
 * The members of all objects: every colon after a quote that no backslash escapes. A string that begins with a colon is
 * counted too, so the figure may be too large, and never too small.
 */
function membersAtMost(text: string): number {
  let members = 0;
  for (let colon = text.indexOf(":"); colon >= 0; colon = text.indexOf(":", colon + 1)) {
    let at = colon - 1;
    while (isSpace(text.charCodeAt(at))) at--;
    if (text.charCodeAt(at) !== QUOTE) continue;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) members++;
  }
  return members;
}

/** Deeper than this only the walk goes, which needs no stack. */
const MAX_DEPTH = 500;

/** Not a number where the value is nested too deeply. */
function countKeys(value: unknown, levels: number): number {
  if (levels === 0) return Number.NaN;
  let keys = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && item !== null) keys += countKeys(item, levels - 1);
    }
    return keys;
  }
  const record = value as Readonly<Record<string, unknown>>;
  for (const key in record) {
    keys++;
    const child = record[key];
    if (typeof child === "object" && child !== null) keys += countKeys(child, levels - 1);
  }
  return keys;
}

/** One object or array that has begun and not ended. */
interface Level {
  /** Of an object. */
  keys: Set<string> | undefined;
  /** The member or the element that is being read. */
  step: string | number;
}

/** The first key that occurs twice in one object. The text is valid JSON. */
function walk(text: string): RepeatedKey | undefined {
  const levels: Level[] = [];
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const level = levels.at(-1);
    if (code === QUOTE) {
      const end = endOfString(text, at + 1);
      let after = end;
      while (isSpace(text.charCodeAt(after))) after++;
      if (level?.keys && text.charCodeAt(after) === COLON) {
        const key = JSON.parse(text.slice(at, end)) as string;
        if (level.keys.has(key)) return { key, path: levels.slice(0, -1).map(({ step }) => step) };
        level.keys.add(key);
        level.step = key;
      }
      at = end;
      continue;
    }
    if (code === OPEN_OBJECT) levels.push({ keys: new Set(), step: "" });
    else if (code === OPEN_ARRAY) levels.push({ keys: undefined, step: 0 });
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) levels.pop();
    else if (code === COMMA && typeof level?.step === "number") level.step++;
    at++;
  }
  return undefined;
}
