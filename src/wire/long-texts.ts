import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../base/json.ts";
import { endOfString } from "./json-text.ts";
import { parsingLoss } from "./parsing-loss.ts";

/**
 * Where the texts of a protocol's requests are that translating only moves. The objects are those of a list, or a single one; what
 * `within` lists has places of its own.
 */
export interface TextPlaces {
  /** Only objects without other members. */
  readonly keys?: ReadonlySet<string>;
  /** Only objects with one of these as their `type`. An object without a type counts as "". */
  readonly types?: ReadonlySet<string>;
  /** Only objects with a single member. */
  readonly alone?: true;
  /** The members that are texts. */
  readonly texts?: readonly string[];
  readonly within?: Readonly<Record<string, TextPlaces>>;
}

/** JSON with stubs in place of long texts. */
export interface Outline {
  /** The JSON text, for readers of its form. */
  readonly text: string;
  readonly texts: LongTexts;
}

/** A stub costs about as much as 150 bytes of text. */
const LONG = 256;
/** How much of a text is searched for the place where it begins or ends with something visible. */
const MAX_EDGE = 64;

/** A stub is the number of its text between two of these. A body that contains one itself has no outline. */
const MARK = "\x7f";
const ESCAPED_MARK = Buffer.from("\\u007");

/** What a JSON string cannot contain. `\\d` is found too, so it is then parsed. */
const SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not allow them either.
  /[\0-\x1f]|\\(?:[^"\\/bfnrtu]|u(?![0-9a-fA-F]{4}))/g;
const NOT_ASCII = /[\x80-\xff]/;
const BEFORE_VALUE = /\s*:/y;

const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const LOWER_U = 0x75;
const isVisible = (code: number) => code > 0x20 && code < 0x7f && code !== BACKSLASH;

/**
 * The long texts of a JSON body as ranges of its bytes. All protocols write the same JSON strings, so a text that is only moved can
 * be copied from body to body without ever being decoded, unescaped, escaped and encoded again.
 */
export class LongTexts {
  readonly #bytes: Buffer;
  /** The start and end of each text. */
  readonly #spans: readonly number[];

  constructor(bytes: Buffer, spans: readonly number[]) {
    this.#bytes = bytes;
    this.#spans = spans;
  }

  /** Replaces stubs by their texts except where `places` allows them. */
  restore(value: JsonObject, places: TextPlaces): void {
    const object = value as Record<string, unknown>;
    // Its form may depend on its other members.
    for (const key in object) if (!places.texts?.includes(key)) this.#restoreMember(object, key);
    const isPlace = hasForm(object, places);
    for (const key in object) {
      const child = object[key];
      if (typeof child === "object" && child !== null)
        this.#restoreWithin(child, (isPlace && places.within?.[key]) || NOWHERE);
      else if (!isPlace) this.#restoreMember(object, key);
    }
  }

  #restoreMember(object: Record<string, unknown>, key: string): void {
    const text = object[key];
    if (typeof text === "string" && text.includes(MARK)) object[key] = this.whole(text);
  }

  #restoreWithin(value: object, places: TextPlaces): void {
    if (!Array.isArray(value)) {
      this.restore(value as JsonObject, places);
      return;
    }
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "string") value[index] = this.whole(item);
      else if (typeof item === "object" && item !== null)
        this.#restoreWithin(item, Array.isArray(item) ? NOWHERE : places);
    }
  }

  /** A string of the outline without stubs. */
  whole(text: string): string {
    if (!text.includes(MARK)) return text;
    const [first = "", ...rest] = text.split(MARK);
    let whole = first;
    for (const [index, piece] of rest.entries())
      whole +=
        index % 2 === 0 ? (JSON.parse(`"${this.#bytes.toString("utf8", ...this.#span(piece))}"`) as string) : piece;
    return whole;
  }

  /** The bytes of a JSON text with stubs in it, with their texts in place of them. */
  fill(json: string): Buffer {
    const pieces = json.split(MARK);
    let length = Buffer.byteLength(json);
    for (let index = 1; index < pieces.length; index += 2) {
      const stub = pieces[index] ?? "";
      const [start, end] = this.#span(stub);
      length += end - start - stub.length - 2 * MARK.length;
    }
    const filled = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index] ?? "";
      if (index % 2 === 0) at += filled.write(piece, at);
      else {
        const [start, end] = this.#span(piece);
        at += this.#bytes.copy(filled, at, start, end);
      }
    }
    return filled;
  }

  #span(stub: string): [start: number, end: number] {
    const at = 2 * Number(stub);
    const start = this.#spans[at];
    const end = this.#spans[at + 1];
    if (start === undefined || end === undefined) throw new Error(`no text has the stub ${stub}`);
    return [start, end];
  }
}

const NOWHERE: TextPlaces = {};

function hasForm(object: Readonly<Record<string, unknown>>, { keys, types, alone }: TextPlaces): boolean {
  if (types !== undefined && !types.has(String(object["type"] ?? ""))) return false;
  let members = 0;
  for (const key in object) {
    members++;
    if (keys !== undefined && !keys.has(key)) return false;
  }
  return alone === undefined || members === 1;
}

/**
 * The outline of a body; undefined if it has none: if texts are a small part of it, or something about it is unusual, wrong or would
 * be lost by parsing. The careful way then finds out what. White space at the edges of a text stays in the outline, so that trimming
 * works as for the text, and a text that begins like JSON does so too. `long`: shorter texts are not replaced.
 */
export function outlineJson(bytes: Buffer, long: number = LONG): Outline | undefined {
  if (!isUtf8(bytes)) return undefined;
  const raw = bytes.toString("latin1");
  if (raw.includes(MARK) || bytes.includes(ESCAPED_MARK)) return undefined;
  const spans: number[] = [];
  let frame = "";
  let kept = 0;
  let suspect = -1;
  for (let quote = raw.indexOf('"'); quote >= 0; ) {
    const after = endOfString(raw, quote + 1);
    const end = after - 1;
    if (end - quote > long) {
      const start = visibleStart(raw, quote + 1, end);
      const stop = visibleEnd(raw, start, end);
      if (stop - start >= long && isText(raw, start, after)) {
        if (suspect < start) suspect = findSuspect(raw, start);
        // Throws if it is not a JSON string.
        if (suspect < stop) JSON.parse(`"${raw.slice(start, stop)}"`);
        frame += `${raw.slice(kept, start)}${MARK}${spans.length / 2}${MARK}`;
        spans.push(start, stop);
        kept = stop;
      }
    }
    quote = raw.indexOf('"', after);
  }
  frame += raw.slice(kept);
  if (2 * frame.length > bytes.length && long === LONG) return undefined;
  const { order, digits } = parsingLoss(frame);
  if (order || digits) return undefined;
  const text = NOT_ASCII.test(frame) ? Buffer.from(frame, "latin1").toString() : frame;
  return { text, texts: new LongTexts(bytes, spans) };
}

/** Offsets in Latin-1 text are offsets in bytes. Between characters and between escapes. */
function visibleStart(raw: string, from: number, end: number): number {
  const last = Math.min(end, from + MAX_EDGE);
  let at = from;
  for (let code = raw.charCodeAt(at); at < last && !isVisible(code); code = raw.charCodeAt(at)) {
    at += code !== BACKSLASH ? 1 : raw.charCodeAt(at + 1) === LOWER_U ? 6 : 2;
  }
  return at < last ? at : end;
}

function visibleEnd(raw: string, start: number, end: number): number {
  const last = Math.max(start, end - MAX_EDGE);
  for (let at = end; at > last; at--) if (isVisible(raw.charCodeAt(at - 1)) && !mayEndEscape(raw, at)) return at;
  return start;
}

/** The longest escape has six characters. */
function mayEndEscape(raw: string, end: number): boolean {
  for (let at = end - 6; at < end; at++) if (raw.charCodeAt(at) === BACKSLASH) return true;
  return false;
}

function isText(raw: string, start: number, after: number): boolean {
  const first = raw.charCodeAt(start);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return false;
  BEFORE_VALUE.lastIndex = after;
  return !BEFORE_VALUE.test(raw);
}

function findSuspect(raw: string, from: number): number {
  SUSPECT.lastIndex = from;
  return SUSPECT.exec(raw)?.index ?? raw.length;
}
