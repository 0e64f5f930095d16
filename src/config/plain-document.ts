import type { DocumentNode, MapNode, Position } from "./document-node.ts";
import { restoreReferences } from "./variables.ts";

/**
 * Reads the YAML that nearly every configuration is: mappings and lists by indentation or in one line, words, numbers and quoted texts. Undefined for
 * anything else, and for whatever is wrong, which the package that reads all of YAML then judges: loading it and running it once takes 12 MB for as long
 * as the gateway runs (docs/decisions/0071).
 */
export function readPlainDocument(source: string): DocumentNode | undefined {
  if (source.length > MAX_CHARACTERS || UNUSUAL.test(source)) return undefined;
  try {
    return new PlainReader(source).document();
  } catch (error) {
    if (error === NOT_PLAIN) return undefined;
    throw error;
  }
}

/** A longer one is for the reader that counts what it makes. */
export const MAX_CHARACTERS = 500_000;

/** Tabs, carriage returns and other controls, marks of documents and directives, and characters that may end a line. */
export const UNUSUAL = /[^\n -\uffff]|[\u007f-\u009f\u2028\u2029\ufeff]|^(?:---|\.\.\.|%)/m;

const NOT_PLAIN = Symbol("not plain");

function notPlain(): never {
  throw NOT_PLAIN;
}

const KEY = /([A-Za-z_][\w./-]*) *:(?= |$)/y;
const QUOTED = /"([^"\\]*)"|'([^']*)'/y;
/** Up to what ends it: a comment, or the end of the line. */
const BLOCK_TEXT = /[\w$./\u00a1-\uffff](?:(?! #)(?!:(?: |$)).)*(?<! )/y;
/** Inside brackets these end it, too. */
const FLOW_TEXT = /[\w$./\u00a1-\uffff](?:(?! #)(?!:(?:[ ,[\]{}]|$))[^,[\]{}])*(?<! )/y;
const REST_OF_LINE = / *(?: #.*)?$/y;

/** What the core schema of YAML takes for something other than a text. */
const NOT_TEXT = /^(?:~|null|true|false|[-+]?\.(?:inf|nan)|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?|0[ox][\da-f]+)$/i;
const NUMBER = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function resolved(text: string): unknown {
  if (!NOT_TEXT.test(text)) return restoreReferences(text);
  if (NUMBER.test(text)) return Number(text);
  return WORDS.has(text) ? WORDS.get(text) : notPlain();
}

/** A line that says something. */
interface Line {
  number: number;
  indent: number;
  text: string;
}

function linesOf(source: string): Line[] {
  const lines: Line[] = [];
  for (const [index, text] of source.split("\n").entries()) {
    const indent = text.search(/[^ ]/);
    if (indent >= 0 && text[indent] !== "#") lines.push({ number: index + 1, indent, text });
  }
  return lines;
}

/** Deeper than any configuration; the careful reader has a bound of its own. */
const MAX_DEPTH = 16;

class PlainReader {
  readonly #lines: Line[];
  #next = 0;
  /** In the line that is being read. */
  #line: Line = { number: 1, indent: 0, text: "" };
  #at = 0;

  constructor(source: string) {
    this.#lines = linesOf(source);
  }

  document(): DocumentNode {
    const first = this.#lines[0];
    if (first === undefined || first.indent !== 0) notPlain();
    this.#take(first);
    const root = this.#block(0, 0);
    return root.kind === "scalar" || this.#next < this.#lines.length ? notPlain() : root;
  }

  #take(line: Line): void {
    this.#next++;
    this.#line = line;
    this.#at = line.indent;
  }

  /** Goes on to the next line if it stands exactly there. */
  #takeAt(indent: number): boolean {
    const line = this.#lines[this.#next];
    if (line === undefined || line.indent < indent) return false;
    // A text that goes on in the next line is not plain.
    if (line.indent > indent) notPlain();
    this.#take(line);
    return true;
  }

  #position(): Position {
    return { line: this.#line.number, column: this.#at + 1 };
  }

  /** A mapping, a list or a text that begins at this place of the line. */
  #block(indent: number, depth: number): DocumentNode {
    if (depth > MAX_DEPTH) notPlain();
    if (this.#isItem()) return this.#items(indent, depth);
    return this.#peeks(KEY) ? this.#members(indent, depth) : this.#value();
  }

  #isItem(): boolean {
    return this.#line.text.startsWith("- ", this.#at);
  }

  #items(indent: number, depth: number): DocumentNode {
    const position = this.#position();
    const items: DocumentNode[] = [];
    do {
      if (!this.#isItem()) return notPlain();
      this.#at += 2;
      // One space after the dash, as everybody writes it.
      if (this.#isItem() || /[ #]/.test(this.#line.text[this.#at] ?? " ")) notPlain();
      items.push(this.#block(indent + 2, depth + 1));
    } while (this.#continuesItems(indent));
    return { kind: "list", position, items };
  }

  /** A list may stand at the indent of its own key: the next key ends it. */
  #continuesItems(indent: number): boolean {
    const line = this.#lines[this.#next];
    if (line?.indent === indent && !line.text.startsWith("- ", indent)) return false;
    return this.#takeAt(indent);
  }

  #members(indent: number, depth: number): MapNode {
    const position = this.#position();
    const entries: MapNode["entries"] = new Map();
    do {
      const at = this.#position();
      const key = this.#key();
      if (entries.has(key)) notPlain();
      entries.set(key, { position: at, node: this.#isAtEnd() ? this.#below(indent, depth) : this.#valueAfterSpaces() });
    } while (this.#takeAt(indent));
    return { kind: "map", position, entries };
  }

  /** What stands in the lines after a key; nothing is a null of its own kind, which the careful reader places. */
  #below(indent: number, depth: number): DocumentNode {
    const line = this.#lines[this.#next] ?? notPlain();
    const isListAtKey = line.indent === indent && line.text.startsWith("- ", indent);
    if (line.indent <= indent && !isListAtKey) notPlain();
    this.#take(line);
    const node = this.#block(line.indent, depth + 1);
    return node.kind === "scalar" ? notPlain() : node;
  }

  #key(): string {
    const [, key = ""] = this.#match(KEY) ?? notPlain();
    return NOT_TEXT.test(key) ? notPlain() : key;
  }

  #valueAfterSpaces(): DocumentNode {
    this.#skipSpaces();
    return this.#value();
  }

  /** All that is left of the line, but for a comment. */
  #value(): DocumentNode {
    const node = this.#flow(BLOCK_TEXT, 0);
    return this.#isAtEnd() ? node : notPlain();
  }

  #flow(text: RegExp, depth: number): DocumentNode {
    if (depth > MAX_DEPTH) notPlain();
    const position = this.#position();
    const first = this.#line.text[this.#at];
    if (first === "[")
      return { kind: "list", position, items: this.#between("]", () => this.#flow(FLOW_TEXT, depth + 1)) };
    if (first === "{") return { kind: "map", position, entries: this.#flowEntries(depth) };
    const quoted = this.#match(QUOTED);
    if (quoted) return { kind: "scalar", position, value: restoreReferences(quoted[1] ?? quoted[2] ?? "") };
    const [plain] = this.#match(text) ?? notPlain();
    return { kind: "scalar", position, value: resolved(plain) };
  }

  #flowEntries(depth: number): MapNode["entries"] {
    const entries: MapNode["entries"] = new Map();
    this.#between("}", () => {
      const position = this.#position();
      const key = this.#key();
      if (entries.has(key)) notPlain();
      this.#skipSpaces();
      entries.set(key, { position, node: this.#flow(FLOW_TEXT, depth + 1) });
    });
    return entries;
  }

  /** What stands between brackets, with commas between. */
  #between<Item>(close: string, read: () => Item): Item[] {
    const items: Item[] = [];
    this.#at++;
    this.#skipSpaces();
    while (this.#line.text[this.#at] !== close) {
      items.push(read());
      this.#skipSpaces();
      if (this.#line.text[this.#at] === close) break;
      if (this.#line.text[this.#at] !== ",") notPlain();
      this.#at++;
      this.#skipSpaces();
    }
    this.#at++;
    return items;
  }

  #skipSpaces(): void {
    while (this.#line.text[this.#at] === " ") this.#at++;
  }

  #isAtEnd(): boolean {
    return this.#peeks(REST_OF_LINE);
  }

  #peeks(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#line.text);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#line.text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }
}
