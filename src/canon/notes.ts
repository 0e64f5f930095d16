import type { FieldNote } from "./receipt.ts";

/** Collects what a target could not be given to the letter. Nothing is left out in silence (H09). */
export class Notes {
  readonly list: FieldNote[] = [];
  /** A request may give rise to a hundred thousand: looking each up among all others would stop the gateway. */
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
