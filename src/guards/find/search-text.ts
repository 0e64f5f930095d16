import { readingsOf } from "./reading.ts";
import type { TextFinder, TextMatch } from "./text-match.ts";

/** How much of a text is searched at once, apart from what two slices share (S25). */
export const SLICE = 8 * 1024;
/** What is searched again with the next slice. A match that does not say that it is open is found within this. */
const OVERLAP = 5 * 1024;
/** What a match may have in front of it, such as the name of a key. */
const CONTEXT = 256;
/** A match that is still open after this many characters is hidden in them. */
const LONGEST_OPEN = 128 * 1024;

/** What a finder finds in a text however it is read, in order and without overlaps, and where the text may end in part of a match. */
export function searchText(finder: TextFinder, text: string): { matches: TextMatch[]; openAt: number | undefined } {
  const found: TextMatch[] = [];
  let openAt: number | undefined;
  for (const reading of readingsOf(text, finder.ignoresCase === true)) {
    for (const match of reading.placed(mergeMatches(finder.find(reading.text)))) found.push(match);
    const open = finder.openAt?.(reading.text);
    if (open === undefined) continue;
    const [place] = reading.placed([{ start: open, end: open + 1, label: "" }]);
    openAt = Math.min(openAt ?? Number.POSITIVE_INFINITY, place?.start ?? 0);
  }
  return { matches: mergeMatches(found), openAt };
}

/** The matches in order, with overlapping ones merged. Adjacent ones stay separate. */
function mergeMatches(matches: TextMatch[]): TextMatch[] {
  if (matches.length < 2) return matches;
  matches.sort((one, other) => one.start - other.start || other.end - one.end);
  const merged: TextMatch[] = [];
  for (const match of matches) {
    const last = merged.at(-1);
    if (last === undefined || match.start >= last.end) merged.push(match);
    else if (match.end > last.end) merged[merged.length - 1] = { ...last, end: match.end };
  }
  return merged;
}

/** A part of a text that has been searched. */
interface SearchedSlice {
  /** Empty, if more of the text has to be seen at once. */
  readonly end: number;
  /** How many characters were searched for it. */
  readonly searched: number;
  /** One without a label belongs to the match in front of it. */
  readonly matches: readonly TextMatch[];
}

/** Searches a text of any length, slice by slice: what each yields is final. `size` is for tests. */
export function* searchSlices(finder: TextFinder, text: string, size = SLICE): Generator<SearchedSlice> {
  let at = 0;
  let lastEnd = 0;
  let length = size;
  let isInMatch = false;
  while (at < text.length) {
    if (isInMatch) {
      const end = endOfToken(text, at, Math.min(text.length, at + size));
      isInMatch = end === at + size;
      if (end > at) yield { end, searched: end - at, matches: [{ start: at, end, label: "" }] };
      at = end;
      lastEnd = end;
      continue;
    }
    const from = wholeAt(text, Math.max(at - CONTEXT, lastEnd, 0));
    const to = wholeAt(text, Math.min(text.length, at + length + OVERLAP));
    const { matches: found, openAt = Number.POSITIVE_INFINITY } = searchText(finder, text.slice(from, to));
    let matches = found.flatMap(({ start, end, label }) =>
      from + end <= at ? [] : [{ start: Math.max(at, from + start), end: from + end, label }],
    );
    let end = to;
    if (to < text.length) {
      end = wholeAt(text, Math.min(to - OVERLAP, Math.max(at, from + openAt)));
      const cut = matches.find((match) => match.start < end && match.end > end);
      if (cut !== undefined) end = cut.start;
      if (end === at && cut?.start === at) {
        // A match as long as this is known by its beginning.
        end = cut.end;
        isInMatch = end === to;
      } else if (end === at) {
        length *= 2;
        if (length < LONGEST_OPEN) {
          yield { end: at, searched: to - from, matches: [] };
          continue;
        }
        end = to;
        matches = [{ start: at, end, label: "hidden_text" }];
      }
      matches = matches.filter((match) => match.end <= end);
    }
    yield { end, searched: to - from, matches };
    lastEnd = matches.at(-1)?.end ?? lastEnd;
    length = size;
    at = end;
  }
}

/** Not between the halves of a character. */
function wholeAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff && at > 0 ? at - 1 : at;
}

const isOfToken = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x2e ||
  code === 0x2f ||
  code === 0x3d ||
  code === 0x5f;

/** Where the token ends that goes on at an offset. */
export function endOfToken(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isOfToken(text.charCodeAt(at))) at++;
  return at;
}
