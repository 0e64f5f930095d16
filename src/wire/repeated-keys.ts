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

/** What parsing loses of a JSON text, and what else can be learned in the same walk. */
export interface JsonShape {
  /** The first key that occurs twice in one object. */
  repeated: RepeatedKey | undefined;
  /** The greatest nesting depth of objects and arrays, counted up to MAX_DEPTH. */
  levels: number;
  /** Some object has one of the wanted keys. */
  holds: boolean;
}

export interface RepeatedKey {
  key: string;
  /** The path of the object that has the key twice. */
  path: readonly (string | number)[];
}

/**
 * Some parsers take the first of two equal keys, others the last, so a repeated key can mean two things (S15). The parsed value
 * does not show it. This compares the number of members in the text with the number in the parsed value, and scans the text only
 * if they differ. The same walk looks for `wanted` keys.
 */
export function inspectJson(text: string, parsed: unknown, wanted?: ReadonlySet<string>): JsonShape {
  const count = new KeyCount(wanted);
  count.add(parsed, 1);
  const isPlain = count.levels < MAX_DEPTH && membersAtMost(text) === count.keys;
  return { repeated: isPlain ? undefined : walk(text), levels: count.levels, holds: count.holds };
}

const COLON = 0x3a;

/**
 * An upper bound for the number of members in all objects: every colon after an unescaped quote. Strings that begin with a colon
 * are counted too.
 */
function membersAtMost(text: string): number {
  let members = 0;
  for (let colon = text.indexOf(":"); colon >= 0; colon = text.indexOf(":", colon + 1)) {
    let at = colon - 1;
    let code = text.charCodeAt(at);
    while (isSpace(code)) code = text.charCodeAt(--at);
    if (code !== QUOTE) continue;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) members++;
  }
  return members;
}

/** Below this depth only the scan continues, which needs no stack. */
const MAX_DEPTH = 500;

/** Counts the keys of all objects in a value, and its depth, in one walk. */
class KeyCount {
  keys = 0;
  levels = 0;
  holds = false;
  readonly #wanted: ReadonlySet<string> | undefined;

  constructor(wanted: ReadonlySet<string> | undefined) {
    this.#wanted = wanted;
  }

  add(value: unknown, level: number): void {
    if (level > this.levels) this.levels = level;
    if (level === MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index];
        if (typeof item === "object" && item !== null) this.add(item, level + 1);
      }
      return;
    }
    const record = value as Readonly<Record<string, unknown>>;
    for (const key in record) {
      this.keys++;
      if (!this.holds && this.#wanted?.has(key)) this.holds = true;
      const child = record[key];
      if (typeof child === "object" && child !== null) this.add(child, level + 1);
    }
  }
}

/** An open object or array. */
interface Level {
  /** Set for objects. */
  keys: Set<string> | undefined;
  /** The member or element being read. */
  step: string | number;
}

/** The first repeated key. The text must be valid JSON. */
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
