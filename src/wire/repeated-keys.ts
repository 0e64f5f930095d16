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

/** What a JSON text says that its parsed value does not, and what a second walk over that value would have to find out. */
export interface JsonShape {
  /** The first key that occurs twice in one object. */
  repeated: RepeatedKey | undefined;
  /** How many objects and arrays are inside each other at the deepest place; counted no further than MAX_DEPTH. */
  levels: number;
  /** Some object has a key of those that were asked for. */
  holds: boolean;
}

export interface RepeatedKey {
  key: string;
  /** The path of the object that has it twice. */
  path: readonly (string | number)[];
}

/**
 * A key that occurs twice in one object means one thing to a parser that takes the last and another to one that takes the
 * first (S15). Parsing cannot tell: it keeps one of them. So the members are counted in the text and in what was parsed of it;
 * only where the figures differ is the text walked through. The same walk looks for keys that are `wanted`.
 */
export function inspectJson(text: string, parsed: unknown, wanted?: ReadonlySet<string>): JsonShape {
  const count = new KeyCount(wanted);
  count.add(parsed, 1);
  const isPlain = count.levels < MAX_DEPTH && membersAtMost(text) === count.keys;
  return { repeated: isPlain ? undefined : walk(text), levels: count.levels, holds: count.holds };
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
    let code = text.charCodeAt(at);
    while (isSpace(code)) code = text.charCodeAt(--at);
    if (code !== QUOTE) continue;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) members++;
  }
  return members;
}

/** Deeper than this only the walk goes, which needs no stack. */
const MAX_DEPTH = 500;

/** The keys of all objects in a value, and its depth, in one walk. */
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
