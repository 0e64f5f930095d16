/**
 * Finds and changes single values in JSON text without rebuilding it, so that everything else keeps the sender's bytes: key
 * order, spacing, number spelling (H05). The text must be valid JSON; callers have parsed it.
 */
export interface Span {
  start: number;
  end: number;
}

interface Member {
  key: string;
  /** From the key's opening quote to the end of the value. */
  start: number;
  keyEnd: number;
  valueStart: number;
  end: number;
}

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;

export const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** `from` is right after the opening quote. Returns the offset right after the closing one. */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return endOfString(text, from + 1);
  let at = from;
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_ARRAY || isSpace(code)) break;
    }
    return at;
  }
  let depth = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
      continue;
    }
    at++;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return at;
  }
  return at;
}

/** An escaped key such as "\u006dodel" is the same key to every parser, so keys are compared unescaped. */
function unescapedKey(raw: string): string {
  return raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}

function membersOf(text: string, objectStart: number): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, objectStart + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at + 1);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    members.push({ key: unescapedKey(text.slice(at, keyEnd)), start: at, keyEnd, valueStart, end });
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA) break;
    at = skipSpace(text, next + 1);
  }
  return members;
}

function* elementsOf(text: string, arrayStart: number): Generator<Span> {
  let at = skipSpace(text, arrayStart + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_ARRAY) {
    const end = endOfValue(text, at);
    yield { start: at, end };
    const next = skipSpace(text, end);
    if (text.charCodeAt(next) !== COMMA) return;
    at = skipSpace(text, next + 1);
  }
}

function elementSpan(text: string, arrayStart: number, index: number): Span | undefined {
  let position = 0;
  for (const span of elementsOf(text, arrayStart)) if (position++ === index) return span;
  return undefined;
}

/** The span of the value at `path`, or undefined. Of a repeated key it is the last one, as parsers read it. */
export function findValue(text: string, path: readonly (string | number)[]): Span | undefined {
  let span: Span = { start: skipSpace(text, 0), end: text.length };
  for (const step of path) {
    const first = text.charCodeAt(span.start);
    if (typeof step === "number") {
      const element = first === OPEN_ARRAY ? elementSpan(text, span.start, step) : undefined;
      if (!element) return undefined;
      span = element;
      continue;
    }
    const member = first === OPEN_OBJECT ? membersOf(text, span.start).findLast(({ key }) => key === step) : undefined;
    if (!member) return undefined;
    span = { start: member.valueStart, end: member.end };
  }
  return span;
}

/** The text with the value at `path` replaced by `change(value)`; unchanged if the path is absent. */
export function changeValue(
  text: string,
  path: readonly (string | number)[],
  change: (value: string) => string,
): string {
  const span = findValue(text, path);
  if (!span) return text;
  return text.slice(0, span.start) + change(text.slice(span.start, span.end)) + text.slice(span.end);
}

/**
 * The text with some elements of the array at `path` changed, each by the change for its index, in one pass. Changing a long
 * conversation message by message would scan it from the start each time.
 */
export function changeElements(
  text: string,
  path: readonly (string | number)[],
  changes: ReadonlyMap<number, (element: string) => string>,
): string {
  const array = findValue(text, path);
  if (!array || text.charCodeAt(array.start) !== OPEN_ARRAY) return text;
  let result = "";
  let copied = 0;
  let index = 0;
  for (const { start, end } of elementsOf(text, array.start)) {
    const change = changes.get(index++);
    if (change === undefined) continue;
    result += text.slice(copied, start) + change(text.slice(start, end));
    copied = end;
  }
  return result + text.slice(copied);
}

/** The texts of the elements of an array. */
export function elementTexts(arrayText: string): string[] {
  return [...elementsOf(arrayText, skipSpace(arrayText, 0))].map(({ start, end }) => arrayText.slice(start, end));
}

/** Changes to the members of one JSON object, applied in one pass by `toString`. */
export class ObjectEdit {
  readonly #text: string;
  readonly #members: Member[];
  readonly #values = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #removed = new Set<string>();
  readonly #added: string[] = [];

  constructor(text: string) {
    this.#text = text;
    this.#members = membersOf(text, skipSpace(text, 0));
  }

  has(key: string): boolean {
    return this.#members.some((member) => member.key === key);
  }

  /** The value's text. If the key is repeated, the last one. */
  get(key: string): string | undefined {
    const member = this.#members.findLast((one) => one.key === key);
    return member && this.#text.slice(member.valueStart, member.end);
  }

  /** Sets every occurrence, so that all readers of a repeated key see the same value. A new key goes first. */
  set(key: string, json: string): this {
    if (this.has(key)) this.#values.set(key, json);
    else this.#added.push(`${JSON.stringify(key)}:${json}`);
    return this;
  }

  rename(key: string, name: string): this {
    this.#names.set(key, name);
    return this;
  }

  remove(key: string): this {
    this.#removed.add(key);
    return this;
  }

  toString(): string {
    const text = this.#text;
    const first = this.#members[0];
    const last = this.#members.at(-1);
    if (!first || !last) return this.#added.length === 0 ? text : `{${this.#added.join(",")}}`;
    let result = text.slice(0, first.start);
    let previous: Member | undefined;
    let written = false;
    for (const addition of this.#added) {
      result += written ? `,${addition}` : addition;
      written = true;
    }
    for (const member of this.#members) {
      if (!this.#removed.has(member.key)) {
        if (written) result += previous ? text.slice(previous.end, member.start) : ",";
        const name = this.#names.get(member.key);
        const value = this.#values.get(member.key);
        result += name === undefined ? text.slice(member.start, member.keyEnd) : JSON.stringify(name);
        result += text.slice(member.keyEnd, member.valueStart);
        result += value === undefined ? text.slice(member.valueStart, member.end) : value;
        written = true;
      }
      previous = member;
    }
    return result + text.slice(last.end);
  }
}
