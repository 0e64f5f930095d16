import { type FileHandle, mkdir, open, rm, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Cancel, Clock } from "../base/clock.ts";
import { errorCode } from "../base/error-code.ts";
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
  /** Ends its use. A file without content is removed. */
  close(): Promise<void>;
  /** A receipt in the journal of another process; absent if no process shares its folder. */
  findElsewhere?(id: string): Promise<Receipt | undefined>;
  readonly full: boolean;
  /** Why it could not keep the receipts of this many calls. It tries to get the room for them in the background. */
  shortage(calls: number): string | undefined;
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

/** The room for the receipt of one call. They are far smaller, unless many offers failed. */
const CALL_BYTES = 8 * 1024;
/** The file grows by this much at a time. */
const ROOM_BYTES = 1024 ** 2;

/**
 * The journal of one process. Its file is larger than its content: the rest are zeros, so that calls in flight have room on a
 * disk that is full when they end. Concurrent writes are synced to disk together.
 */
export class FileJournal implements Journal {
  readonly path: string;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  #file: FileHandle | undefined;
  /** Of its content, and of the file. */
  #bytes = 0;
  #size = 0;
  /** Why the last write failed, and the last attempt to get more room. */
  #writeFailure: unknown;
  #roomFailure: unknown;
  #growing = false;
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

  shortage(calls: number): string | undefined {
    const wanted = calls * CALL_BYTES;
    const room = this.#size - this.#bytes;
    if (room < 2 * wanted) void this.reserve();
    const failure = this.#writeFailure ?? (room < wanted ? this.#roomFailure : undefined);
    return failure === undefined
      ? undefined
      : `the disk of its journal ${DISK_FAILURES[errorCode(failure) ?? ""] ?? "cannot be written"}`;
  }

  /** Takes more room on the disk, as much as there is. */
  async reserve(): Promise<void> {
    if (this.#growing) return;
    this.#growing = true;
    try {
      await this.#next(async () => {
        const file = await this.#opened();
        const from = Math.max(this.#size, this.#bytes);
        await writeAt(file, Buffer.alloc(ROOM_BYTES), from, (end) => {
          this.#size = Math.max(this.#size, end);
        });
        await file.datasync();
      });
      this.#roomFailure = undefined;
    } catch (thrown) {
      this.#roomFailure = thrown;
    }
    this.#growing = false;
  }

  append(receipts: readonly Receipt[]): Promise<void> {
    const written = this.#next(async () => {
      const file = await this.#opened();
      const bytes = Buffer.concat(receipts.map(encodeRecord));
      const at = this.#bytes;
      // A write that hangs may still happen: the next one must not be in its place.
      const end = at + bytes.length;
      this.#bytes = end;
      try {
        await writeAt(file, bytes, at);
        await file.datasync();
      } catch (thrown) {
        if (this.#bytes === end) this.#bytes = at;
        throw thrown;
      }
      this.#size = Math.max(this.#size, end);
    });
    return written.then(
      () => {
        this.#writeFailure = undefined;
      },
      (thrown: unknown) => {
        this.#writeFailure = thrown;
        throw thrown;
      },
    );
  }

  /** Zeros take the place of its content, and the disk keeps the room for them. */
  clear(): Promise<void> {
    return this.#next(async () => {
      const file = this.#file;
      if (file === undefined) return;
      if (this.#size > ROOM_BYTES) await file.truncate(ROOM_BYTES);
      this.#size = Math.min(this.#size, ROOM_BYTES);
      await writeAt(file, Buffer.alloc(Math.min(this.#bytes, this.#size)), 0);
      this.#bytes = 0;
    });
  }

  findElsewhere(id: string): Promise<Receipt | undefined> {
    return findInJournals(dirname(this.path), basename(this.path), id);
  }

  close(): Promise<void> {
    return this.#next(async () => {
      const isEmpty = this.#bytes === 0;
      if (this.#file !== undefined && isEmpty) await rm(this.path, { force: true });
      await this.#leave();
    });
  }

  async #opened(): Promise<FileHandle> {
    // A process that took it for abandoned has removed it, and stored its content.
    if (this.#file !== undefined && (await this.#file.stat()).nlink === 0) await this.#leave();
    return this.#file ?? (await this.#open());
  }

  async #leave(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#bytes = 0;
    this.#size = 0;
    this.#stopTouching();
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    const folder = dirname(this.path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(this.path, "w", 0o600);
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

const DISK_FAILURES: Readonly<Record<string, string>> = {
  ENOSPC: "is full",
  EDQUOT: "is full",
  EFBIG: "is full",
  EROFS: "is read-only",
};

/** A write to a disk that is almost full may take a part. */
async function writeAt(file: FileHandle, bytes: Buffer, at: number, onWritten?: (end: number) => void): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
    onWritten?.(at + done);
  }
}

/** Syncs the folder, so that the file's name is on disk as well as its content. */
async function syncNames(folder: string): Promise<void> {
  const names = await open(folder, "r");
  try {
    await names.sync();
  } finally {
    await names.close();
  }
}
