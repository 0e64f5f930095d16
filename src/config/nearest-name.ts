import { editsBetween } from "../base/edit-distance.ts";

/** The candidate closest to a mistyped name, if any is close. */
export function nearestName(wanted: string, candidates: Iterable<string>): string | undefined {
  const mostEdits = wanted.length < 4 ? 1 : Math.min(3, Math.max(2, Math.floor(wanted.length / 3)));
  let best: string | undefined;
  let least = mostEdits + 1;
  for (const candidate of candidates) {
    const edits = editsBetween(wanted, candidate, mostEdits);
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}
