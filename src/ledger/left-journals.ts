import { ABANDONED_MS } from "./journal.ts";

/** A journal as its file shows it. */
export interface JournalFile {
  path: string;
  mtimeMs: number;
  size: number;
}

/** Whether no process writes it any more, so that it may be removed. */
export type IsLeft = (journal: JournalFile) => boolean;

/** By the time of the file: for what runs once, while no gateway does. */
export const leftBefore =
  (wallMs: number): IsLeft =>
  ({ mtimeMs }) =>
    wallMs - mtimeMs > ABANDONED_MS;

/**
 * Journals that have stayed as they are for a while, by a clock that never steps. The times of files say less: the clock of this machine
 * may be set, and a process on another one that shares the folder may have another clock (H30).
 */
export class LeftJournals {
  readonly #nowMs: () => number;
  readonly #seen = new Map<string, Omit<JournalFile, "path"> & { sinceMs: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  readonly isLeft: IsLeft = ({ path, mtimeMs, size }) => {
    const nowMs = this.#nowMs();
    const seen = this.#seen.get(path);
    if (seen === undefined || seen.mtimeMs !== mtimeMs || seen.size !== size) {
      this.#seen.set(path, { mtimeMs, size, sinceMs: nowMs });
      return false;
    }
    if (nowMs - seen.sinceMs < ABANDONED_MS) return false;
    this.#seen.delete(path);
    return true;
  };
}
