import { foldedWord } from "./reading.ts";
import type { TextFinder, TextMatch } from "./text-match.ts";

type Node = Map<number, Node> & { isEnd?: true };

const WORD = /[\p{L}\p{N}\p{M}_]/u;
const MARK = /\p{M}/u;
/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const SPACE = 0x20;

/** The words and phrases of a list, whole, in any case and Unicode form. */
export class WordFinder implements TextFinder {
  readonly ignoresCase = true;
  readonly #root: Node = new Map();
  /** The most units of a word. */
  #longest = 0;

  constructor(words: readonly string[]) {
    for (const word of words) {
      let node = this.#root;
      const folded = foldedWord(word.trim()).replace(/\s+/g, " ");
      this.#longest = Math.max(this.#longest, folded.length);
      for (let at = 0; at < folded.length; at++) {
        const unit = folded.charCodeAt(at);
        const next: Node = node.get(unit) ?? new Map();
        node.set(unit, next);
        node = next;
      }
      if (node !== this.#root) node.isEnd = true;
    }
  }

  find(text: string): TextMatch[] {
    const found: TextMatch[] = [];
    for (let at = 0; at < text.length; ) {
      const end = this.#mayBegin(text, at) ? this.#walk(text, at).end : undefined;
      if (end !== undefined) found.push({ start: at, end, label: "word" });
      at = end ?? at + 1;
    }
    return found;
  }

  /** The first place from which the text ends in the middle of a word. */
  openAt(text: string): number | undefined {
    // Spaces in a phrase may be any number.
    let at = text.length;
    for (let left = this.#longest; at > 0 && left > 0; left--) {
      at--;
      if (isSpace(text.charCodeAt(at))) while (at > 0 && isSpace(text.charCodeAt(at - 1))) at--;
    }
    for (; at < text.length; at++) if (this.#mayBegin(text, at) && this.#walk(text, at).isOpen) return at;
    return undefined;
  }

  /** Most characters begin no word of the list. */
  #mayBegin(text: string, at: number): boolean {
    return this.#root.has(text.charCodeAt(at)) && isBoundary(text, at);
  }

  /** Where the longest word ends that begins here, and whether a longer one goes on behind the text. */
  #walk(text: string, from: number): { end: number | undefined; isOpen: boolean } {
    let end: number | undefined;
    let node: Node = this.#root;
    for (let at = from; at < text.length; ) {
      const unit = text.charCodeAt(at);
      const next = node.get(isSpace(unit) ? SPACE : unit);
      if (next === undefined) return { end, isOpen: false };
      node = next;
      at++;
      if (isSpace(unit)) while (isSpace(text.charCodeAt(at))) at++;
      if (node.isEnd === true && isBoundary(text, at)) end = at;
    }
    return { end, isOpen: node.size > 0 };
  }
}

/** The others have been replaced by a space. */
const isSpace = (unit: number): boolean =>
  unit === SPACE || (unit >= 0x09 && unit <= 0x0d) || unit === 0x1680 || unit === 0x2028 || unit === 0x2029;

const isPlain = (unit: number): boolean => unit < 0x80 || Number.isNaN(unit);
const isPlainWord = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39) || unit === 0x5f;

/** Whether a word may begin or end here. A mark belongs to the letter in front of it. */
function isBoundary(text: string, at: number): boolean {
  const left = text.charCodeAt(at - 1);
  const right = text.charCodeAt(at);
  if (isPlain(left) && isPlain(right)) return !isPlainWord(left) || !isPlainWord(right);
  const before = left >= 0xdc00 && left <= 0xdfff ? text.slice(at - 2, at) : text.charAt(at - 1);
  const after = right >= 0xd800 && right <= 0xdbff ? text.slice(at, at + 2) : text.charAt(at);
  if (MARK.test(after)) return false;
  return !WORD.test(before) || !WORD.test(after) || UNSPACED.test(before) || UNSPACED.test(after);
}
