import type { TextFinder, TextMatch } from "./text-match.ts";

/** A text in a form in which equal words look equal, with the place of each of its characters in the original. */
interface FoldedText {
  readonly text: string;
  /** The offset at which each character begins, and behind them the length of the original. Absent: the same offsets. */
  readonly starts?: readonly number[];
  /** The offset at which each character ends. */
  readonly ends?: readonly number[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const PLAIN = /^[\x00-\x7f]*$/;
/** Characters that are not shown: a soft hyphen, spaces without width, direction marks. */
const INVISIBLE = /\u034f|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/u;
const SPACE = /\s/u;
/** A character with its combining marks. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gu;

/** Without case, compatibility forms and invisible characters. Any white space is a space. */
function fold(text: string): FoldedText {
  if (PLAIN.test(text)) return { text: text.toLowerCase().replace(/[\t\n\v\f\r]/g, " ") };
  let folded = "";
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    const isPlain = cluster.length === 1 && cluster < "\u0080" && cluster > " ";
    if (!isPlain && INVISIBLE.test(cluster)) continue;
    const characters = isPlain
      ? cluster.toLowerCase()
      : SPACE.test(cluster)
        ? " "
        : cluster.normalize("NFKC").toUpperCase().toLowerCase();
    for (let at = 0; at < characters.length; at++) {
      starts.push(index);
      ends.push(index + cluster.length);
    }
    folded += characters;
  }
  return { text: folded, starts, ends };
}

type Node = Map<string, Node> & { isEnd?: true };

const WORD = /[\p{L}\p{N}\p{M}_]/u;
/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** The words and phrases of a list, whole, in any case and Unicode form. */
export class WordFinder implements TextFinder {
  readonly #root: Node = new Map();
  /** The first units of all words. */
  readonly #firsts = new Set<number>();

  constructor(words: readonly string[]) {
    for (const word of words) {
      let node = this.#root;
      const folded = fold(word.trim()).text.replace(/ +/g, " ");
      this.#firsts.add(folded.charCodeAt(0));
      for (const character of folded) {
        let next: Node | undefined = node.get(character);
        if (next === undefined) {
          next = new Map();
          node.set(character, next);
        }
        node = next;
      }
      if (node !== this.#root) node.isEnd = true;
    }
  }

  find(text: string): TextMatch[] {
    const { text: folded, starts, ends } = fold(text);
    const found: TextMatch[] = [];
    for (let at = 0; at < folded.length; ) {
      // Most characters begin no word of the list.
      const isFirst = this.#firsts.has(folded.charCodeAt(at));
      const isStart = isFirst && isBoundary(characterBefore(folded, at), characterAt(folded, at));
      const end = isStart ? this.#endOf(folded, at) : undefined;
      if (end === undefined) {
        at++;
        continue;
      }
      found.push({ start: starts?.[at] ?? at, end: ends?.[end - 1] ?? end, label: "word" });
      at = end;
    }
    return found;
  }

  /** Where the longest word ends that begins here. */
  #endOf(text: string, from: number): number | undefined {
    let end: number | undefined;
    let node: Node | undefined = this.#root;
    for (let at = from; at < text.length; ) {
      const character = characterAt(text, at);
      node = node.get(character);
      if (node === undefined) break;
      at += character.length;
      if (character === " ") while (text.charAt(at) === " ") at++;
      if (node.isEnd === true && isBoundary(character, characterAt(text, at))) end = at;
    }
    return end;
  }
}

function characterAt(text: string, at: number): string {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdbff) return text.charAt(at);
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function characterBefore(text: string, at: number): string {
  const code = text.charCodeAt(at - 1);
  return code >= 0xdc00 && code <= 0xdfff ? text.slice(at - 2, at) : text.slice(Math.max(0, at - 1), at);
}

/** Whether a word may begin or end between two characters. */
const isBoundary = (before: string, after: string): boolean =>
  !isWord(before) || !isWord(after) || UNSPACED.test(before) || UNSPACED.test(after);

const isWord = (character: string): boolean =>
  character >= "\u0080" ? WORD.test(character) : (character >= "a" && character <= "z") || DIGIT.test(character);

const DIGIT = /[0-9_]/;
