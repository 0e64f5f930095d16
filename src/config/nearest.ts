/** The candidate that a mistyped name most likely meant, if any is near. */
export function nearest(wanted: string, candidates: Iterable<string>): string | undefined {
  const mostEdits = wanted.length < 4 ? 1 : Math.min(3, Math.max(2, Math.floor(wanted.length / 3)));
  let best: string | undefined;
  let least = mostEdits + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) > mostEdits) continue;
    const edits = editsBetween(wanted, candidate);
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Letters to insert, delete or replace. */
function editsBetween(one: string, other: string): number {
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    last = current;
  }
  return last[other.length] ?? 0;
}
