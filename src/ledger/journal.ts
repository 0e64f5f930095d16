import { type FileHandle, mkdir, open, rm, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Cancel, Clock } from "../base/clock.ts";
import type { Sources } from "../base/sources.ts";
import { withTimeout } from "../base/with-timeout.ts";
import type { Receipt } from "../canon/receipt.ts";
import { encodeRecord } from "./journal-records.ts";
import { findInJournals, JOURNAL_SUFFIX } from "./read-journals.ts";

/** Receipts on disk that the store has not accepted yet. */
export interface Journal {
  /** Resolves when they are on disk. A partial write damages no other record. */
  append(receipts: readonly Receipt[]): Promise<void>;
  /** Everything in it is in the store now. */
  clear(): Promise<void>;
  /** A receipt in the journal of another process; absent if no process shares its folder. */
  findElsewhere?(id: string): Promise<Receipt | undefined>;
  readonly full: boolean;
}

/** A live process touches its journal more often than this, so an older one is abandoned. */
export const ABANDONED_MS = 60_000;

const TOUCH_MS = 10_000;
/** A network disk may hang; no step on a working disk takes this long (H29). */
const DISK_MS = 2_000;

interface FileJournalOptions extends Sources {
  folder: string;
  maxBytes: number;
}

/**
 * The journal of one process: a file that exists only while it has content. Concurrent writes are synced to disk
 * together.
 */
export class FileJournal implements Journal {
  readonly path: string;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  #file: FileHandle | undefined;
  #bytes = 0;
  /** The last write was incomplete: a line feed separates it from what follows. */
  #isBroken = false;
  #stopTouching: Cancel = () => {};
  /** Runs one step at a time, in order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ folder, maxBytes, clock, random }: FileJournalOptions) {
    this.path = join(folder, `${random.id()}${JOURNAL_SUFFIX}`);
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  get full(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  append(receipts: readonly Receipt[]): Promise<void> {
    return this.#next(async () => {
      const file = this.#file ?? (await this.#open());
      const records = receipts.map(encodeRecord);
      const bytes = Buffer.concat(this.#isBroken ? [NEW_LINE, ...records] : records);
      this.#isBroken = true;
      await file.appendFile(bytes);
      await file.datasync();
      this.#isBroken = false;
      this.#bytes += bytes.length;
    });
  }

  clear(): Promise<void> {
    return this.#next(async () => {
      const file = this.#file;
      if (file === undefined) return;
      this.#file = undefined;
      this.#bytes = 0;
      this.#isBroken = false;
      this.#stopTouching();
      await rm(this.path, { force: true });
      await file.close();
    });
  }

  findElsewhere(id: string): Promise<Receipt | undefined> {
    return findInJournals(dirname(this.path), basename(this.path), id);
  }

  async #open(): Promise<FileHandle> {
    const folder = dirname(this.path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(this.path, "a", 0o600);
    this.#file = file;
    await syncNames(folder);
    this.#stopTouching = this.#clock.every(TOUCH_MS, () => void this.#touch(), { background: true });
    return file;
  }

  async #touch(): Promise<void> {
    const seconds = this.#clock.wallMs() / 1000;
    await utimes(this.path, seconds, seconds).catch(() => {});
  }

  #next(step: () => Promise<void>): Promise<void> {
    const begin = () =>
      withTimeout(step(), DISK_MS, this.#clock, () => new Error(`The disk of ${this.path} does not respond.`));
    const done = this.#last.then(begin, begin);
    this.#last = done;
    return done;
  }
}

const NEW_LINE = Buffer.from("\n");

/** Syncs the folder, so that the file's name is on disk as well as its content. */
async function syncNames(folder: string): Promise<void> {
  const names = await open(folder, "r");
  try {
    await names.sync();
  } finally {
    await names.close();
  }
}
