import { editsBetween } from "../base/edit-distance.ts";
import { nameOf } from "./model.ts";

/** How far a name may be from a suggestion, and how much of a caller's text is worth comparing. */
const MAX_EDITS = 3;
const MAX_NAME_LENGTH = 128;
const MAX_SUGGESTIONS = 3;

/**
 * The ids that a caller may have meant, nearest first. A missing or wrong publisher, other punctuation
 * (`4.5` for `4-5`) and a release date at the end do not count as differences.
 */
export function nearNames(wanted: string, ids: Iterable<string>): string[] {
  if (wanted.length > MAX_NAME_LENGTH) return [];
  const name = normal(nameOf(wanted));
  const whole = normal(wanted);
  const maxEdits = Math.min(MAX_EDITS, Math.max(1, Math.floor(name.length / 3)));
  const found: { id: string; edits: number }[] = [];
  for (const id of ids) {
    // Half an edit between candidates of equal name: the one whose publisher matches too comes first.
    const edits = Math.min(
      editsBetween(whole, normal(id), MAX_EDITS),
      editsBetween(name, normal(nameOf(id)), MAX_EDITS) + 0.5,
    );
    if (Math.floor(edits) <= maxEdits) found.push({ id, edits });
  }
  found.sort((one, other) => one.edits - other.edits || (one.id < other.id ? -1 : 1));
  return found.slice(0, MAX_SUGGESTIONS).map(({ id }) => id);
}

function normal(name: string): string {
  return name
    .toLowerCase()
    .replace(/[._\s@]/g, "-")
    .replace(/-(20\d{6}|20\d\d-\d\d-\d\d|latest)$/, "");
}
