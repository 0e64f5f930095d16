import { nameOf } from "./model.ts";

/** How far a name may be from what was meant, and how much of a stranger's text is worth comparing. */
const MOST_EDITS = 3;
const LONGEST_NAME = 128;
const MOST_SUGGESTIONS = 3;

/**
 * The ids that a caller may have meant, nearest first. A missing or wrong publisher, other punctuation
 * (`4.5` for `4-5`) and a release date at the end do not count as differences.
 */
export function nearNames(wanted: string, ids: Iterable<string>): string[] {
  if (wanted.length > LONGEST_NAME) return [];
  const name = normal(nameOf(wanted));
  const whole = normal(wanted);
  const mostEdits = Math.min(MOST_EDITS, Math.max(1, Math.floor(name.length / 3)));
  const found: { id: string; edits: number }[] = [];
  for (const id of ids) {
    // Half a step between candidates of equal name: the one whose publisher matches too goes first.
    const edits = Math.min(editsBetween(whole, normal(id)), editsBetween(name, normal(nameOf(id))) + 0.5);
    if (Math.floor(edits) <= mostEdits) found.push({ id, edits });
  }
  found.sort((one, other) => one.edits - other.edits || (one.id < other.id ? -1 : 1));
  return found.slice(0, MOST_SUGGESTIONS).map(({ id }) => id);
}

function normal(name: string): string {
  return name
    .toLowerCase()
    .replace(/[._\s@]/g, "-")
    .replace(/-(20\d{6}|20\d\d-\d\d-\d\d|latest)$/, "");
}

/** Letters to insert, delete, replace or swap with a neighbour; anything beyond the bound is Infinity. */
function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MOST_EDITS) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    if (Math.min(...current) > MOST_EDITS) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = current;
  }
  const edits = last[other.length] ?? 0;
  return edits <= MOST_EDITS ? edits : Number.POSITIVE_INFINITY;
}
