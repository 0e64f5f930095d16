import type { FieldNote } from "./receipt.ts";

/** Collects what a target could not be given to the letter. Nothing is left out in silence (H09). */
export class Notes {
  readonly list: FieldNote[] = [];

  dropped(path: string, reason: string): void {
    this.#add({ path, action: "dropped", reason });
  }

  approximated(path: string, reason: string): void {
    this.#add({ path, action: "approximated", reason });
  }

  #add(note: FieldNote): void {
    if (!this.list.some(({ path, reason }) => path === note.path && reason === note.reason)) this.list.push(note);
  }
}
