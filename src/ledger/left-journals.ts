import { ABANDONED_MS } from "./journal.ts";

/** A journal as its file shows it. */
export interface JournalFile {
  path: string;
  mtimeMs: number;
  size: number;
}

/** Whether no process writes it any more, so that it can be removed. */
export type IsLeft = (journal: JournalFile) => boolean;

/** By the file's time: for commands that run while no gateway does. */
export const leftBefore =
  (wallMs: number): IsLeft =>
  ({ mtimeMs }) =>
    wallMs - mtimeMs > ABANDONED_MS;

/**
 * Finds journals that have not changed for a while, by a monotonic clock. File times are less reliable: this machine's
 * clock may be changed, and another machine that shares the folder may have a different clock (H30).
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
