import type { DocumentNode, MapNode, Position } from "./document-node.ts";
import { MAX_CHARACTERS, UNUSUAL } from "./plain-document.ts";
import { restoreReferences } from "./variables.ts";

/**
 * Reads a configuration that is written as JSON, which is YAML too: programs write it, Helm's `toJson` among them. Undefined for anything else,
 * and for whatever is wrong, which the package that reads all of YAML then judges (docs/decisions/0071).
 */
export function readJsonDocument(source: string): DocumentNode | undefined {
  if (!source.startsWith("{") || source.length > MAX_CHARACTERS || UNUSUAL.test(source)) return undefined;
  try {
    return new JsonReader(source).document();
  } catch (error) {
    if (error === NOT_JSON) return undefined;
    throw error;
  }
}

const NOT_JSON = Symbol("not JSON");

function notJson(): never {
  throw NOT_JSON;
}

/** Deeper than any configuration; the careful reader has a bound of its own. */
const MAX_DEPTH = 16;
/** YAML has a bound for them. */
const MAX_KEY = 200;

const TEXT = /"((?:[^"\\\n]|\\["\\/bfnrt]|\\u[\dA-Fa-f]{4})*)"/y;
const AFTER_KEY = / *:/y;
/** Up to what must stand behind it. */
const NUMBER = /-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:[Ee][-+]?\d{1,3})?(?=[ \n,\]}])/y;
const WORD = /(?:true|false|null)(?=[ \n,\]}])/y;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

class JsonReader {
  readonly #source: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(source: string) {
    this.#source = source;
  }

  document(): DocumentNode {
    const root = this.#value(0);
    this.#skipSpace();
    return this.#at < this.#source.length ? notJson() : root;
  }

  #value(depth: number): DocumentNode {
    if (depth > MAX_DEPTH) notJson();
    const position = this.#position();
    const first = this.#source[this.#at];
    if (first === "{") return { kind: "map", position, entries: this.#entries(depth) };
    if (first === "[") {
      const items: DocumentNode[] = [];
      this.#between("]", () => void items.push(this.#value(depth + 1)));
      return { kind: "list", position, items };
    }
    if (first === '"') return { kind: "scalar", position, value: this.#text() };
    const number = this.#match(NUMBER);
    if (number !== null) return { kind: "scalar", position, value: Number(number[0]) };
    const [word] = this.#match(WORD) ?? notJson();
    return { kind: "scalar", position, value: WORDS.get(word) };
  }

  #entries(depth: number): MapNode["entries"] {
    const entries: MapNode["entries"] = new Map();
    this.#between("}", () => {
      const position = this.#position();
      const key = this.#text();
      if (key.length > MAX_KEY || entries.has(key) || this.#match(AFTER_KEY) === null) notJson();
      this.#skipSpace();
      entries.set(key, { position, node: this.#value(depth + 1) });
    });
    return entries;
  }

  /** What stands between brackets, with commas between. */
  #between(close: string, read: () => void): void {
    this.#at++;
    this.#skipSpace();
    if (this.#source[this.#at] !== close) {
      for (;;) {
        read();
        this.#skipSpace();
        if (this.#source[this.#at] === close) break;
        if (this.#source[this.#at] !== ",") notJson();
        this.#at++;
        this.#skipSpace();
      }
    }
    this.#at++;
  }

  #text(): string {
    const [quoted, inner = ""] = this.#match(TEXT) ?? notJson();
    return restoreReferences(inner.includes("\\") ? (JSON.parse(quoted) as string) : inner);
  }

  #position(): Position {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  #skipSpace(): void {
    for (;;) {
      const character = this.#source[this.#at];
      if (character !== " " && character !== "\n") return;
      this.#at++;
      if (character === " ") continue;
      this.#line++;
      this.#lineStart = this.#at;
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }
}
