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
