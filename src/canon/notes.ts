import type { FieldNote } from "./receipt.ts";

/** Collects the fields that a target does not get exactly. Nothing is dropped silently (H09). */
export class Notes {
  readonly list: FieldNote[] = [];
  /** A request can cause a hundred thousand notes, so a linear search for duplicates would block the gateway. */
  #known: Set<string> | undefined;

  dropped(path: string, reason: string): void {
    this.#add({ path, action: "dropped", reason });
  }

  approximated(path: string, reason: string): void {
    this.#add({ path, action: "approximated", reason });
  }

  #add(note: FieldNote): void {
    const key = `${note.path}\n${note.reason}`;
    this.#known ??= new Set();
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.list.push(note);
  }
}

/** Adds a note unless it is already there. A stream can lose the same field in many chunks. */
export function addNote(notes: FieldNote[], { path, action, reason }: FieldNote): void {
  const isNoted = notes.some((noted) => noted.path === path && noted.action === action && noted.reason === reason);
  if (!isNoted) notes.push({ path, action, reason });
}

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
