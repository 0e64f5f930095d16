import { MIN_WEIGHT, weigh } from "../base/text-weight.ts";
import { BytePattern } from "./byte-pattern.ts";
import { findOnlyString } from "./edit-body.ts";
import { findValue, type Span } from "./json-text.ts";
import { endOfPlainString } from "./plain-string.ts";
import type { SseFrame } from "./sse.ts";

/** Steps from the root of an event's JSON to a value in it. */
export type JsonPath = readonly (string | number)[];

/** What differs between the ordinary events of a stream. */
export interface VaryingPlaces {
  /** The text is the first of these that an event has. */
  readonly texts: readonly JsonPath[];
  /** Whole numbers. They never decrease in ordinary events, so an event with a smaller number than the last is not ordinary. */
  readonly numbers?: readonly JsonPath[];
  /** Random characters without a meaning, which some hosts add. */
  readonly padding?: readonly JsonPath[];
  /** The text is passed on as it was written, so that it may be empty and have any escapes. */
  readonly verbatim?: true;
}

/** `space`: as much of it as there is before the end of an event's JSON, which some hosts pad with. */
type Hole = "text" | "number" | "padding" | "space";

interface HoleSpan extends Span {
  hole: Hole;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ZERO = 0x30;
/** The letters after a backslash for which there is one way to write a character, so that all writers use it: `"\bfnrt`. */
const PLAIN_ESCAPES: ReadonlySet<number> = new Set([...'"\\bfnrt'].map((letter) => letter.charCodeAt(0)));
const SLASH = 0x2f;
const LETTER_U = 0x75;
const HEX_DIGITS = 4;

/**
 * Ordinary events of one stream differ only in their text and perhaps some numbers. Once one of them was parsed, others like it are
 * recognised by their bytes. An event that differs anywhere else is not recognised.
 */
export class FrameTemplate {
  readonly #literals: readonly BytePattern[];
  readonly #holes: readonly Hole[];
  readonly #isVerbatim: boolean;
  /** The numbers of the last event, each at the place of its hole, and those of the event that is compared. */
  #numbers: number[];
  #numbersNow: number[] = [];
  /** Set by `learn` and by a successful `match`: the offsets of the event's text, still escaped, and its weight. */
  textStart = 0;
  textEnd = 0;
  weight = 0;

  private constructor(literals: readonly string[], holes: readonly Hole[], numbers: number[], isVerbatim: boolean) {
    this.#literals = literals.map((literal) => new BytePattern(literal));
    this.#holes = holes;
    this.#numbers = numbers;
    this.#isVerbatim = isVerbatim;
  }

  /** Learns from an event with this `text`; undefined if none of the places has it. */
  static learn({ raw, data }: SseFrame, places: VaryingPlaces, text: string): FrameTemplate | undefined {
    if (data === undefined || data.includes("\n")) return undefined;
    const said = spansOf(data, places.texts, stringAt).find((span) => isWritten(text, data, span));
    if (said === undefined) return undefined;
    const spans: HoleSpan[] = [{ hole: "text", start: said.start, end: said.end }];
    for (const { start, end } of spansOf(data, places.padding, stringAt)) spans.push({ hole: "padding", start, end });
    for (const { start, end } of spansOf(data, places.numbers, numberAt)) spans.push({ hole: "number", start, end });
    const close = data.lastIndexOf("}");
    spans.push({ hole: "space", start: data.slice(0, close).trimEnd().length, end: close });
    spans.sort((one, other) => one.start - other.start);
    const lead = raw.indexOf(data);
    const literals: string[] = [];
    let from = 0;
    for (const { start, end } of spans) {
      literals.push(raw.slice(from, lead + start));
      from = lead + end;
    }
    literals.push(raw.slice(from));
    const template = new FrameTemplate(
      literals,
      spans.map(({ hole }) => hole),
      spans.map(({ hole, start, end }) => (hole === "number" ? Number(data.slice(start, end)) : 0)),
      places.verbatim === true,
    );
    template.textStart = lead + said.start;
    template.textEnd = lead + said.end;
    return template;
  }

  /** Returns where the event at `at` ends, or -1 if it does not match, has no text, or escapes it in an unusual way. */
  match(view: DataView, at: number): number {
    const literals = this.#literals;
    const holes = this.#holes;
    let end = at;
    for (let index = 0; index < literals.length; index++) {
      const literal = literals[index];
      if (literal === undefined || !literal.isAt(view, end)) return -1;
      end += literal.length;
      const hole = holes[index];
      if (hole === undefined) break;
      if (hole === "text") end = this.#matchText(view, end);
      else end = hole === "number" ? this.#matchNumber(view, end, index) : endOf(hole, view, end);
      if (end < 0) return -1;
    }
    const before = this.#numbers;
    this.#numbers = this.#numbersNow;
    this.#numbersNow = before;
    return end;
  }

  #matchNumber(view: DataView, start: number, index: number): number {
    let number = 0;
    let end = start;
    for (; end < view.byteLength; end++) {
      const digit = view.getUint8(end) - ZERO;
      if (digit < 0 || digit > 9) break;
      number = number * 10 + digit;
    }
    const hasLeadingZero = end > start + 1 && view.getUint8(start) === ZERO;
    if (end === start || hasLeadingZero || number < (this.#numbers[index] ?? 0)) return -1;
    this.#numbersNow[index] = number;
    return end;
  }

  #matchText(view: DataView, start: number): number {
    const length = view.byteLength;
    let characters = 0;
    /** How many bytes the escapes take beyond the text that they stand for. */
    let surplus = 0;
    let end = start;
    for (; end < length; end++) {
      const byte = view.getUint8(end);
      if (byte === QUOTE) break;
      // Not JSON.
      if (byte < SPACE) return -1;
      if (byte === BACKSLASH) {
        end++;
        if (end === length) return -1;
        const letter = view.getUint8(end);
        if (!PLAIN_ESCAPES.has(letter)) {
          if (!this.#isVerbatim) return -1;
          const bytes = bytesOfEscape(view, end, letter);
          if (bytes === 0) return -1;
          if (letter === LETTER_U) {
            end += HEX_DIGITS;
            surplus += HEX_DIGITS + 1 - bytes;
          }
        }
        surplus++;
        characters++;
        continue;
      }
      // One of four bytes is two of the units in which texts are measured.
      if ((byte & 0xc0) !== 0x80) characters += byte >= 0xf0 ? 2 : 1;
    }
    if (end === start && !this.#isVerbatim) return -1;
    this.textStart = start;
    this.textEnd = end;
    this.weight = characters === 0 ? 0 : Math.max(MIN_WEIGHT, weigh(characters, end - start - surplus));
    return end;
  }
}

/** How many bytes of UTF-8 an escape stands for that writers may also write in another way: 0 where it is not JSON. */
function bytesOfEscape(view: DataView, at: number, letter: number): number {
  if (letter === SLASH) return 1;
  if (letter !== LETTER_U || at + HEX_DIGITS >= view.byteLength) return 0;
  let code = 0;
  for (let digit = 1; digit <= HEX_DIGITS; digit++) {
    const value = Number.parseInt(String.fromCharCode(view.getUint8(at + digit)), 16);
    if (Number.isNaN(value)) return 0;
    code = code * 16 + value;
  }
  if (code < 0x80) return 1;
  // Half of a pair, which has four together.
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code < 0x800 || isSurrogate ? 2 : 3;
}

function spansOf(
  data: string,
  paths: readonly JsonPath[] = [],
  spanAt: (data: string, path: JsonPath) => Span | undefined,
) {
  const spans: Span[] = [];
  for (const path of paths) {
    // Walking the event takes 10 µs, which a stream of a few events notices. Most have no padding.
    if (!data.includes(`"${path.at(-1)}"`)) continue;
    const span = spanAt(data, path);
    if (span !== undefined) spans.push(span);
  }
  return spans;
}

/** The offsets of a string's characters, without its quotes. */
function stringAt(data: string, path: JsonPath): Span | undefined {
  const span = findOnlyString(data, String(path.at(-1))) ?? findValue(data, path);
  return span && data[span.start] === '"' ? { start: span.start + 1, end: span.end - 1 } : undefined;
}

function numberAt(data: string, path: JsonPath): Span | undefined {
  const span = findValue(data, path);
  return span && /^\d+$/.test(data.slice(span.start, span.end)) ? span : undefined;
}

function isWritten(text: string, data: string, { start, end }: Span): boolean {
  const written = data.slice(start, end);
  return written === text || (written.includes("\\") && JSON.parse(`"${written}"`) === text);
}

function endOf(hole: Exclude<Hole, "text" | "number">, view: DataView, from: number): number {
  return hole === "space" ? endOfSpace(view, from) : endOfPlainString(view, from);
}

function endOfSpace(view: DataView, from: number): number {
  let end = from;
  while (end < view.byteLength && view.getUint8(end) === SPACE) end++;
  return end;
}
