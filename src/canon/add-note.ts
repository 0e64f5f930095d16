import type { FieldNote } from "./receipt.ts";

/** Adds a note unless it is already there. A stream can lose the same field in many chunks. */
export function addNote(notes: FieldNote[], { path, action, reason }: FieldNote): void {
  const isNoted = notes.some((noted) => noted.path === path && noted.action === action && noted.reason === reason);
  if (!isNoted) notes.push({ path, action, reason });
}
