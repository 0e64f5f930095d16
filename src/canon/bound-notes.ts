import type { FieldNote } from "./receipt.ts";

const MAX_NOTES = 300;
const MAX_TEXT = 500;

/** Limits the notes to what a receipt stores. A final note counts the rest (H09, H20). */
export function boundNotes(notes: readonly FieldNote[]): FieldNote[] {
  if (notes.length === 0) return [];
  const kept = notes
    .slice(0, MAX_NOTES)
    .map(({ path, action, reason }): FieldNote => ({ path: cut(path), action, reason: cut(reason) }));
  const more = notes.length - kept.length;
  if (more > 0) kept.push({ path: "*", action: "dropped", reason: `${more} more fields were dropped or approximated` });
  return kept;
}

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
