import type { TextMatch } from "./text-match.ts";

/** The matches in order, with overlapping ones merged. Adjacent ones stay separate. */
export function mergeMatches(matches: readonly TextMatch[]): TextMatch[] {
  if (matches.length < 2) return [...matches];
  const sorted = [...matches].sort((one, other) => one.start - other.start || other.end - one.end);
  const merged: TextMatch[] = [];
  for (const match of sorted) {
    const last = merged.at(-1);
    if (last === undefined || match.start >= last.end) merged.push(match);
    else if (match.end > last.end) merged[merged.length - 1] = { ...last, end: match.end };
  }
  return merged;
}
