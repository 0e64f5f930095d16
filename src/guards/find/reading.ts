import type { TextMatch } from "./text-match.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;
/** Characters that are not shown: soft hyphens, spaces without width, variation selectors, tags. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}+/gu;
/** Characters that are not shown, and that models read as ASCII. */
const TAG = /[\u{e0020}-\u{e007e}]/u;
const TAGS = /[\u{e0020}-\u{e007e}]/gu;
const TAG_OFFSET = 0xe0000;
const SENTENCES = /[\ufdfa\ufdfb]/g;
const UNKNOWN = 255;

/**
 * One way to read a text: without what is not shown, and in one Unicode form. Everything is decomposed, because the decomposition of a
 * text has the length of the decompositions of its characters. Offsets are computed for matches only, so that no array has the length of
 * the text.
 */
class Reading {
  readonly #write: (text: string) => string;
  /** How long each character of the first plane is as it is read. */
  #lengths: Uint8Array | undefined;

  constructor(write: (text: string) => string) {
    this.#write = write;
  }

  of(text: string): string {
    return this.#write(text);
  }

  /** Matches in the text as it is read, at their places in the text. They are in order and do not overlap. */
  placed(text: string, matches: readonly TextMatch[]): TextMatch[] {
    let at = 0;
    let read = 0;
    const next = () => {
      read += this.#lengthAt(text, at);
      at += sizeAt(text, at);
    };
    return matches.map(({ start, end, label }) => {
      while (at < text.length && read + this.#lengthAt(text, at) <= start) next();
      const from = at;
      while (at < text.length && read + this.#lengthAt(text, at) < end) next();
      return { start: from, end: at + sizeAt(text, at), label };
    });
  }

  #lengthAt(text: string, at: number): number {
    const code = text.charCodeAt(at);
    if (code < 0x80) return 1;
    if (sizeAt(text, at) === 2) return this.#write(text.slice(at, at + 2)).length;
    this.#lengths ??= new Uint8Array(0x10000).fill(UNKNOWN);
    const known = this.#lengths[code] ?? UNKNOWN;
    if (known !== UNKNOWN) return known;
    const { length } = this.#write(text.charAt(at));
    this.#lengths[code] = length;
    return length;
  }
}

const sizeAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

const decomposed = (text: string): string => text.replace(IGNORABLE, "").normalize("NFKD");
/** Without two Arabic characters that stand for sentences: nothing that is looked for is in them, and much time would go into them. */
const shown = (text: string): string => decomposed(text.replace(SENTENCES, " "));
/** In lower case. A sigma at the end of a word is one like any other. */
const folded = (text: string): string => decomposed(text).toUpperCase().toLowerCase().replaceAll("\u03c2", "\u03c3");
const untagged = (text: string): string =>
  text.replace(TAGS, (tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - TAG_OFFSET));

const SHOWN = new Reading(shown);
const FOLDED = new Reading(folded);
const TAGGED = new Reading((text) => shown(untagged(text)));
const FOLDED_TAGGED = new Reading((text) => folded(untagged(text)));

/** A word of a list as `readingsOf` shows it. */
export const foldedWord = (word: string): string => folded(word);

/** A text in one of the forms in which it may be read, and how matches in it get their places in the text. */
export interface ReadText {
  readonly text: string;
  readonly placed: (matches: readonly TextMatch[]) => readonly TextMatch[];
}

const asIs = (text: string): ReadText => ({ text, placed: (matches) => matches });

/** All forms in which a text may be read. Most texts have one. */
export function readingsOf(text: string, ignoresCase: boolean): ReadText[] {
  if (ASCII.test(text)) return [asIs(ignoresCase ? text.toLowerCase() : text)];
  const readings = ignoresCase ? [FOLDED] : [SHOWN];
  if (TAG.test(text)) readings.push(ignoresCase ? FOLDED_TAGGED : TAGGED);
  const read = readings.map((reading) => ({
    text: reading.of(text),
    placed: (matches: readonly TextMatch[]): readonly TextMatch[] => reading.placed(text, matches),
  }));
  // A footnote after a number becomes part of it: without case, a word of the list has the same.
  if (!ignoresCase && read.some((one) => one.text !== text)) read.push(asIs(text));
  return read;
}
