import { Notes } from "../../canon/notes.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** A session can last an hour, and a client chooses the paths. */
const MAX_NOTES = 300;

/** Notes of a session, taken turn by turn. Each note is given once. */
export class SessionNotes extends Notes {
  #taken = 0;

  override dropped(path: string, reason: string): void {
    if (this.list.length < MAX_NOTES) super.dropped(path, reason);
  }

  override approximated(path: string, reason: string): void {
    if (this.list.length < MAX_NOTES) super.approximated(path, reason);
  }

  take(): readonly FieldNote[] {
    const fresh = this.list.slice(this.#taken);
    this.#taken = this.list.length;
    return fresh;
  }
}
