import type { Cancel, Clock } from "../base/clock.ts";
import { ReportsBusy } from "./reports-busy.ts";
import type { ReaderAnswer, ReaderQuestion } from "./sqlite-reader.thread.ts";
import type { Parameter, StoredRow } from "./storage.ts";
import { StorageTimeout } from "./storage-timeout.ts";

/** How the thread of a compiled program knows its role (src/main.ts). */
export const READER_THREAD = "sqlite-reader";

/** A compiled program has one file for all modules. */
const PROGRAM = import.meta.path === Bun.main ? Bun.main : new URL("./sqlite-reader.thread.ts", import.meta.url);

/** After this idle time the thread ends and frees its memory. */
const IDLE_MS = 30_000;

/** For a busy disk. */
const CHECKPOINT_MS = 60_000;

/** The most threads that still run abandoned statements. Each takes a processor if calls leave one free. */
const MAX_ABANDONED = 2;

interface Asked {
  resolve: (rows: readonly StoredRow[]) => void;
  reject: (reason: Error) => void;
  cancelTimeout: Cancel;
}

/**
 * Reads a SQLite file in a separate thread with its own connection, because reports over a large ledger take longer
 * than any stream may wait. The thread also copies the log into the file while much is written. A statement that times out is abandoned together with its thread, which ends after it:
 * SQLite could interrupt it, but the runtime cannot.
 */
export class SqliteReader {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #asked = new Map<number, Asked>();
  #worker: Worker | undefined;
  #abandoned = 0;
  #number = 0;
  #cancelEnd: Cancel = () => {};

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Copies the log into the file, while writers continue. */
  async checkpoint(): Promise<void> {
    await this.query("PRAGMA wal_checkpoint(PASSIVE)", [], CHECKPOINT_MS, true);
  }

  query(
    text: string,
    parameters: readonly Parameter[],
    limitMs: number,
    writes = false,
  ): Promise<readonly StoredRow[]> {
    if (this.#abandoned >= MAX_ABANDONED) return Promise.reject(new ReportsBusy());
    const { promise, resolve, reject } = Promise.withResolvers<readonly StoredRow[]>();
    const number = ++this.#number;
    const cancelTimeout = this.#clock.after(limitMs, () => this.#fail(new StorageTimeout(limitMs)));
    this.#asked.set(number, { resolve, reject, cancelTimeout });
    this.#cancelEnd();
    this.#worker ??= this.#start();
    this.#worker.ref();
    const question: ReaderQuestion = { number, text, parameters, writes };
    this.#worker.postMessage(question);
    return promise;
  }

  close(): void {
    this.#fail(new Error("the storage is closed"));
  }

  #start(): Worker {
    const options = { argv: [READER_THREAD, this.#path] };
    const worker = new Worker(PROGRAM, options);
    worker.onmessage = ({ data }: MessageEvent<ReaderAnswer>) => this.#take(data);
    worker.onerror = ({ message }) => {
      if (this.#worker === worker) this.#fail(new Error(`the thread that reads the storage failed: ${message}`));
    };
    return worker;
  }

  #take(answer: ReaderAnswer): void {
    const asked = this.#asked.get(answer.number);
    if (asked === undefined) return;
    this.#asked.delete(answer.number);
    asked.cancelTimeout();
    if ("rows" in answer) asked.resolve(answer.rows);
    else asked.reject(new Error(answer.problem));
    if (this.#asked.size > 0) return;
    // It must not keep an otherwise finished program alive.
    this.#worker?.unref();
    this.#cancelEnd = this.#clock.after(IDLE_MS, () => this.#end(), { background: true });
  }

  /** One statement runs at a time, so all others have waited for it as well. */
  #fail(reason: Error): void {
    this.#end();
    const all = [...this.#asked.values()];
    this.#asked.clear();
    for (const { reject, cancelTimeout } of all) {
      cancelTimeout();
      reject(reason);
    }
  }

  #end(): void {
    this.#cancelEnd();
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    if (this.#asked.size > 0) {
      this.#abandoned += 1;
      worker.addEventListener("close", () => {
        this.#abandoned -= 1;
      });
    }
    worker.terminate();
  }
}
