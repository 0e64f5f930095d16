import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../canon/error.ts";
import type { Receipt } from "../canon/receipt.ts";
import { isRefusal } from "../storage/is-refusal.ts";
import { insertReceipts } from "../storage/receipts.ts";
import type { Storage } from "../storage/storage.ts";

export interface LedgerWriterOptions {
  storage: Storage;
  clock: Clock;
  /** Under load, rows are collected for this long before they are committed together. */
  maxWaitMs?: number;
  /** Rows of one insert. */
  maxRows?: number;
  /** Rows kept while the store fails; beyond it new ones are refused. */
  maxQueued?: number;
  /** After this, a caller continues although its row is not yet stored, so that calls are answered while the store is down. */
  commitTimeoutMs?: number;
  /** How long `flush` and `close` wait for a store that fails. */
  drainMs?: number;
  /** Called for every failed attempt, and for every row that is lost. */
  onProblem: (error: unknown) => void;
  /** Resolves when the reports are written: `close` may report more than a log holds at a time. */
  written?: () => Promise<void>;
}

interface Entry {
  receipt: Receipt;
  sinceMs: number;
  /** Lets the caller go on; calling it twice does no harm. */
  release: () => void;
}

/** An attempt without an answer by then counts as failed; its rows are sent again, which is idempotent. */
const ATTEMPT_MS = 10_000;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2_000;
const LINES_AT_A_TIME = 100;

/**
 * Group commit: a single row is committed at once; if the last commit was less than `maxWaitMs` ago, rows are collected and
 * committed together. One insert runs at a time, and rows leave the queue only when they are stored or refused.
 */
export class LedgerWriter {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #maxWaitMs: number;
  readonly #maxRows: number;
  readonly #maxQueued: number;
  readonly #commitTimeoutMs: number;
  readonly #drainMs: number;
  readonly #onProblem: (error: unknown) => void;
  readonly #written: () => Promise<void>;

  #queue: Entry[] = [];
  /** Counts all rows ever accepted, and ever stored or lost, so that `flush` knows which rows it waits for. */
  #taken = 0;
  #finished = 0;
  #flushes: { upTo: number; resolve: () => void }[] = [];
  #planned = false;
  #watching = false;
  #backingOff = false;
  #closed = false;
  #failures = 0;
  #lastFailure: unknown;
  #lost = 0;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  /** The running insert. */
  #attempt: symbol | undefined;

  constructor(options: LedgerWriterOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#maxWaitMs = options.maxWaitMs ?? 5;
    this.#maxRows = options.maxRows ?? 256;
    this.#maxQueued = options.maxQueued ?? 50_000;
    this.#commitTimeoutMs = options.commitTimeoutMs ?? 250;
    this.#drainMs = options.drainMs ?? 5_000;
    this.#onProblem = options.onProblem;
    this.#written = options.written ?? (() => Promise.resolve());
  }

  /** Rows that are not stored yet. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Rows that were lost; their content is in the log. */
  get lost(): number {
    return this.#lost;
  }

  /** Whether the next row can be kept, at least in memory. */
  get full(): boolean {
    return this.#queue.length >= this.#maxQueued;
  }

  /** Why rows wait; undefined while the store accepts them. */
  get trouble(): string | undefined {
    if (this.#failures === 0) return undefined;
    const reason = this.#lastFailure instanceof Error ? this.#lastFailure.message : String(this.#lastFailure);
    return `${this.#queue.length} receipts wait for the store: ${reason}`;
  }

  /**
   * Resolves when the row is committed, or when the store has kept the caller waiting for `commitTimeoutMs`. `alone`: no other
   * row can be expected soon, so waiting for more is useless.
   */
  write(receipt: Receipt, alone = false): Promise<void> {
    if (this.#closed || this.full) {
      this.#giveUp(receipt, this.#closed ? "the ledger is closed" : `${this.#maxQueued} rows wait already`);
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.push({ receipt, sinceMs: this.#clock.nowMs(), release: resolve });
    this.#taken += 1;
    this.#watch(this.#commitTimeoutMs);
    if (this.#attempt === undefined && !this.#backingOff) this.#plan(alone);
    return promise;
  }

  /** Resolves when every row written so far is stored; rejects if the store does not accept them in time. */
  async flush(): Promise<void> {
    if (this.#queue.length === 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#flushes.push({ upTo: this.#taken, resolve });
    const cancel = this.#clock.after(this.#drainMs, () => {
      reject(
        new GatewayError("internal", `${this.#queue.length} receipts are not stored: the store does not take them.`),
      );
    });
    void this.#commit();
    try {
      await promise;
    } finally {
      cancel();
      this.#flushes = this.#flushes.filter((flush) => flush.resolve !== resolve);
    }
  }

  /** Accepts no more rows and stores those that wait; rows that cannot be stored in time are reported one by one. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.flush();
    } catch (thrown) {
      this.#onProblem(thrown);
      const lost = this.#queue;
      this.#queue = [];
      await this.#giveUpAll(lost);
    }
  }

  #plan(alone = false): void {
    const waitMs = this.#maxWaitMs - (this.#clock.nowMs() - this.#lastStartMs);
    const atOnce = alone || waitMs <= 0 || this.#queue.length === this.#maxRows;
    if (this.#planned && !atOnce) return;
    this.#planned = true;
    if (atOnce) queueMicrotask(() => void this.#commit());
    else this.#clock.after(waitMs, () => void this.#commit());
  }

  async #commit(): Promise<void> {
    this.#planned = false;
    if (this.#attempt !== undefined || this.#queue.length === 0) return;
    const attempt = Symbol("attempt");
    this.#attempt = attempt;
    this.#lastStartMs = this.#clock.nowMs();
    const batch = this.#queue.slice(0, this.#maxRows);
    try {
      await insertReceipts(
        this.#storage,
        batch.map((entry) => entry.receipt),
      );
    } catch (thrown) {
      if (this.#attempt !== attempt) return;
      if (isRefusal(thrown)) await this.#commitSingly(batch, attempt);
      else this.#fail(thrown);
      return;
    }
    if (this.#attempt === attempt) this.#succeed(batch);
  }

  /** The store refuses one of these rows permanently: without it, the others and those after them are stored. */
  async #commitSingly(batch: readonly Entry[], attempt: symbol): Promise<void> {
    for (const entry of batch) {
      let refused: unknown;
      try {
        await insertReceipts(this.#storage, [entry.receipt]);
      } catch (thrown) {
        refused = thrown;
      }
      if (this.#attempt !== attempt) return;
      if (refused !== undefined && !isRefusal(refused)) {
        this.#fail(refused);
        return;
      }
      if (refused !== undefined) this.#giveUp(entry.receipt, "the store refuses it", refused);
      this.#finish([entry]);
    }
    this.#succeed([]);
  }

  #succeed(entries: readonly Entry[]): void {
    this.#attempt = undefined;
    this.#backingOff = false;
    this.#failures = 0;
    this.#finish(entries);
    this.#continue();
  }

  /** The first rows of the queue need not wait any longer. */
  #finish(entries: readonly Entry[]): void {
    this.#queue.splice(0, entries.length);
    this.#finished += entries.length;
    for (const entry of entries) entry.release();
    for (const flush of this.#flushes) if (flush.upTo <= this.#finished) flush.resolve();
  }

  /** The rest is written in a later turn: a long queue must not block the event loop. */
  #continue(): void {
    if (this.#queue.length === 0) return;
    if (this.#queue.length >= this.#maxRows || this.#flushes.length > 0) setImmediate(() => void this.#commit());
    else this.#plan();
  }

  #fail(cause: unknown): void {
    this.#attempt = undefined;
    this.#lastFailure = cause;
    const delayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#onProblem(
      new GatewayError(
        "internal",
        `The ledger's store failed: ${this.#queue.length} receipts wait, next attempt in ${delayMs} ms.`,
        { cause },
      ),
    );
    this.#backingOff = true;
    this.#clock.after(delayMs, () => {
      this.#backingOff = false;
      void this.#commit();
    });
  }

  async #giveUpAll(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) entry.release();
    const untilMs = this.#clock.nowMs() + this.#drainMs;
    for (const [index, { receipt }] of entries.entries()) {
      this.#giveUp(receipt, "the ledger was closed while the store failed");
      if (index % LINES_AT_A_TIME === LINES_AT_A_TIME - 1 && this.#clock.nowMs() < untilMs) await this.#written();
    }
  }

  #giveUp(receipt: Receipt, reason: string, cause?: unknown): void {
    this.#lost += 1;
    this.#onProblem(refusal(receipt, reason, cause));
  }

  /** One timer for all rows that wait, instead of one for each. */
  #watch(delayMs: number): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#clock.after(delayMs, () => this.#look());
  }

  #look(): void {
    this.#watching = false;
    const nowMs = this.#clock.nowMs();
    let nextMs = this.#commitTimeoutMs;
    for (const entry of this.#queue) {
      const leftMs = entry.sinceMs + this.#commitTimeoutMs - nowMs;
      if (leftMs > 0) {
        nextMs = leftMs;
        break;
      }
      entry.release();
    }
    if (this.#attempt !== undefined && nowMs - this.#lastStartMs > ATTEMPT_MS) {
      this.#fail(new GatewayError("internal", `The store did not answer within ${ATTEMPT_MS} ms.`));
    }
    if (this.#queue.length > 0) this.#watch(nextMs);
  }
}

/** Reports the amounts of the row, so that they can be booked by hand; a row contains nothing of a prompt. */
function refusal(receipt: Receipt, reason: string, cause?: unknown): GatewayError {
  const { id, project, key, model, provider, outcome, usage, usageSource, costNanoUsd, createdAtMs } = receipt;
  const what = JSON.stringify({ project, key, model, provider, outcome, usage, usageSource, createdAtMs });
  const message = `The receipt ${id} of key ${key} (${costNanoUsd} nano-dollars) was not kept: ${reason}. It said ${what}.`;
  return new GatewayError("overloaded", message, { cause });
}
