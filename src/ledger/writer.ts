import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../canon/error.ts";
import type { Receipt } from "../canon/receipt.ts";
import { isRefusal } from "../storage/is-refusal.ts";
import type { Storage } from "../storage/storage.ts";
import { insertRows, isIntent } from "./insert-rows.ts";
import type { Journal } from "./journal.ts";

export interface LedgerWriterOptions {
  storage: Storage;
  clock: Clock;
  /** Keeps rows that the store does not take in time; without one they are only in memory. */
  journal?: Journal | undefined;
  /** Under load, rows are collected for this long before they are committed together. */
  maxWaitMs?: number;
  /** The most rows of one insert. */
  maxRows?: number;
  /** With this many rows waiting for the store, no more calls are accepted. Rows of calls in flight are kept. */
  maxQueued?: number;
  /** How many calls will write a row. */
  inFlight?: () => number;
  /**
   * After this, a caller continues although its row is not stored yet, so that calls are answered while the store is
   * down. The row is then in the journal.
   */
  commitTimeoutMs?: number;
  /** How long `flush` and `close` wait for a store that fails. */
  drainMs?: number;
  /** Called when the first rows go to the journal. */
  onBehind?: () => void;
  /** Called for every failed attempt, and for every lost row. */
  onProblem: (error: unknown) => void;
  /** Resolves when the reports are written: `close` may report more than a log buffers at a time. */
  written?: () => Promise<void>;
}

interface Entry {
  receipt: Receipt;
  sinceMs: number;
  /** It is in the journal, or being written there. */
  journaled: boolean;
  /** It survives a crash. */
  isDurable: boolean;
  /** Lets the caller continue; a second call does nothing. */
  release: () => void;
}

/** An attempt without a response by then has failed; its rows are sent again, which is idempotent. */
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
  readonly #journal: Journal | undefined;
  readonly #maxWaitMs: number;
  readonly #maxRows: number;
  readonly #maxQueued: number;
  readonly #inFlight: () => number;
  readonly #commitTimeoutMs: number;
  readonly #drainMs: number;
  readonly #onProblem: (error: unknown) => void;
  readonly #onBehind: () => void;
  readonly #written: () => Promise<void>;

  #queue: Entry[] = [];
  /** Counts all rows ever accepted, and ever stored or lost, so that `flush` knows which rows it waits for. */
  #taken = 0;
  #finished = 0;
  #flushes: { upTo: number; resolve: () => void }[] = [];
  /** When the next commit starts: in this turn of the event loop, or after `maxWaitMs`. */
  #planned: "soon" | "later" | undefined;
  #watching = false;
  #backingOff = false;
  /** Rows have waited for longer than `commitTimeoutMs` since the store last accepted some. */
  #late = false;
  #closed = false;
  /** Since the store last accepted rows, and since the start. */
  #failures = 0;
  #allFailures = 0;
  #lastFailure: unknown;
  #lost = 0;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  /** Rows of the queue that are in the journal, or being written there. */
  #journaled = 0;
  #journalPlanned = false;
  #journaling: Promise<void> = Promise.resolve();
  /** The insert in flight. */
  #attempt: symbol | undefined;

  constructor(options: LedgerWriterOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#journal = options.journal;
    this.#maxWaitMs = options.maxWaitMs ?? 5;
    this.#maxRows = options.maxRows ?? 256;
    this.#maxQueued = options.maxQueued ?? 50_000;
    this.#inFlight = options.inFlight ?? (() => 0);
    this.#commitTimeoutMs = options.commitTimeoutMs ?? 250;
    this.#drainMs = options.drainMs ?? 5_000;
    this.#onProblem = options.onProblem;
    this.#onBehind = options.onBehind ?? (() => {});
    this.#written = options.written ?? (() => Promise.resolve());
  }

  /** Rows that are not stored yet. */
  get queued(): number {
    return this.#queue.length;
  }

  /** How long the oldest row has been waiting. */
  get oldestMs(): number {
    const [first] = this.#queue;
    return first === undefined ? 0 : this.#clock.nowMs() - first.sinceMs;
  }

  /** How often the store has failed since the start. */
  get failures(): number {
    return this.#allFailures;
  }

  /** Lost rows; their content is in the log. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Why no more calls may begin: their rows could be lost. Undefined if the store takes rows, or the journal has room for another
   * one beside those of the calls in flight.
   */
  get refusal(): string | undefined {
    if (this.#queue.length >= this.#maxQueued) return `${this.#queue.length} receipts wait for its database`;
    if (this.#journal === undefined) return undefined;
    if (this.#journal.full) return "its database does not take them, and its journal is full (`ledger.journal_mb`)";
    // Asked in any case: it gets room ahead of need.
    const shortage = this.#journal.shortage(this.#inFlight() + 1);
    const isBehind = this.#failures > 0 || this.#late;
    return isBehind && shortage !== undefined ? `its database does not take them, and ${shortage}` : undefined;
  }

  /** Whether the journal has rows that the store does not have. */
  get isBehind(): boolean {
    return this.#journaled > 0;
  }

  /** Why rows wait; undefined while the store accepts them. */
  get trouble(): string | undefined {
    if (this.#failures === 0) return undefined;
    const reason = this.#lastFailure instanceof Error ? this.#lastFailure.message : String(this.#lastFailure);
    return `${this.#queue.length} receipts wait for the store: ${reason}`;
  }

  /**
   * Resolves when the row is committed, or in the journal because the store fails or has kept the caller waiting for
   * `commitTimeoutMs`. `alone`: no other row can be expected soon, so waiting for more is useless.
   */
  write(receipt: Receipt, alone = false): Promise<void> {
    if (this.#closed) {
      this.#giveUp(receipt, "the ledger is closed");
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#add(receipt, alone, resolve);
    return promise;
  }

  /** The same for a call that has not reached a provider yet; returns whether its row would survive a crash. */
  async writeIntent(intent: Receipt, alone = false): Promise<boolean> {
    if (this.#closed || this.refusal !== undefined) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry = this.#add(intent, alone, resolve);
    await promise;
    return entry.isDurable;
  }

  /** A receipt that the store does not have yet, although its call may have ended. */
  waiting(id: string): Receipt | undefined {
    return this.#queue.find(({ receipt }) => receipt.id === id && !isIntent(receipt))?.receipt;
  }

  /** The same of another process with the same journals. */
  async waitingElsewhere(id: string): Promise<Receipt | undefined> {
    const found = await this.#journal?.findElsewhere?.(id);
    return found !== undefined && isIntent(found) ? undefined : found;
  }

  /** Resolves when every row written so far is stored; rejects if the store does not accept them in time. */
  async flush(): Promise<void> {
    if (this.#queue.length === 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#flushes.push({ upTo: this.#taken, resolve });
    const cancel = this.#clock.after(this.#drainMs, () => {
      reject(
        new GatewayError("internal", `${this.#queue.length} receipts are not stored: the store does not accept them.`),
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

  /**
   * Accepts no more rows and stores the waiting ones. Rows that cannot be stored in time stay in the journal for the
   * next start; rows that are not there either are reported one by one.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.flush();
    } catch (thrown) {
      this.#onProblem(thrown);
      await this.#toJournal(this.#queue);
      const lost = this.#queue.filter(({ journaled }) => !journaled);
      this.#queue = [];
      await this.#giveUpAll(lost);
    }
    await this.#journal?.close().catch(this.#onProblem);
  }

  #add(receipt: Receipt, alone: boolean, release: () => void): Entry {
    const sinceMs = this.#clock.nowMs();
    const entry = { receipt, sinceMs, journaled: false, isDurable: false, release };
    this.#queue.push(entry);
    this.#taken += 1;
    this.#watch(this.#commitTimeoutMs);
    if (this.#failures > 0) this.#planJournal();
    if (this.#attempt === undefined && !this.#backingOff) this.#plan(alone, sinceMs);
    return entry;
  }

  #plan(alone = false, nowMs = this.#clock.nowMs()): void {
    if (alone) {
      queueMicrotask(() => void this.#commit());
      return;
    }
    const waitMs = this.#maxWaitMs - (nowMs - this.#lastStartMs);
    const isDue = waitMs <= 0 || this.#queue.length === this.#maxRows;
    if (this.#planned === "soon" || (this.#planned === "later" && !isDue)) return;
    this.#planned = isDue ? "soon" : "later";
    // Rows of other calls that end in this turn of the event loop are written with it.
    if (isDue) this.#clock.soon(() => void this.#commit());
    else this.#clock.after(waitMs, () => void this.#commit());
  }

  async #commit(): Promise<void> {
    this.#planned = undefined;
    if (this.#attempt !== undefined || this.#queue.length === 0) return;
    const attempt = Symbol("attempt");
    this.#attempt = attempt;
    this.#lastStartMs = this.#clock.nowMs();
    const batch = this.#queue.slice(0, this.#maxRows);
    try {
      await insertRows(
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

  /** The store rejects one of these rows permanently: without it, the others and those after them are stored. */
  async #commitSingly(batch: readonly Entry[], attempt: symbol): Promise<void> {
    for (const entry of batch) {
      let refused: unknown;
      try {
        await insertRows(this.#storage, [entry.receipt]);
      } catch (thrown) {
        refused = thrown;
      }
      if (this.#attempt !== attempt) return;
      if (refused !== undefined && !isRefusal(refused)) {
        this.#fail(refused);
        return;
      }
      if (refused !== undefined) this.#giveUp(entry.receipt, "the store rejects it", refused);
      this.#finish([entry], refused === undefined);
    }
    this.#succeed([]);
  }

  #succeed(entries: readonly Entry[]): void {
    this.#attempt = undefined;
    this.#backingOff = false;
    this.#failures = 0;
    this.#late = false;
    this.#finish(entries);
    this.#continue();
  }

  /** The first rows of the queue need not wait any longer. */
  #finish(entries: readonly Entry[], areStored = true): void {
    this.#queue.splice(0, entries.length);
    this.#finished += entries.length;
    const wasJournaled = this.#journaled > 0;
    for (const entry of entries) this.#forget(entry);
    if (wasJournaled && this.#journaled === 0) void this.#journal?.clear().catch(this.#onProblem);
    for (const entry of entries) {
      entry.isDurable = areStored;
      entry.release();
    }
    for (const flush of this.#flushes) if (flush.upTo <= this.#finished) flush.resolve();
  }

  /** The rest is written in a later turn: a long queue must not block the event loop. */
  #continue(): void {
    if (this.#queue.length === 0) return;
    if (this.#queue.length >= this.#maxRows || this.#flushes.length > 0) this.#clock.soon(() => void this.#commit());
    else this.#plan();
  }

  #fail(cause: unknown): void {
    this.#attempt = undefined;
    this.#lastFailure = cause;
    const delayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#allFailures += 1;
    this.#onProblem(
      new GatewayError(
        "internal",
        `The ledger's store failed: ${this.#queue.length} receipts wait, next attempt in ${delayMs} ms.`,
        { cause },
      ),
    );
    this.#planJournal();
    this.#backingOff = true;
    this.#clock.after(delayMs, () => {
      this.#backingOff = false;
      void this.#commit();
    });
  }

  /**
   * While the store fails, rows do not wait for it: in the next turn, all that have arrived go to the journal
   * together.
   */
  #planJournal(): void {
    if (this.#journal === undefined || this.#journalPlanned) return;
    this.#journalPlanned = true;
    this.#clock.soon(() => {
      this.#journalPlanned = false;
      if (this.#failures > 0) void this.#toJournal(this.#queue);
    });
  }

  /** Their callers continue when they are on disk. If that fails as well, they are only in memory. */
  #toJournal(entries: readonly Entry[]): Promise<void> {
    const journal = this.#journal;
    if (journal === undefined) return Promise.resolve();
    const added = entries.filter(({ journaled }) => !journaled);
    if (added.length === 0) return this.#journaling;
    for (const entry of added) entry.journaled = true;
    if (this.#journaled === 0) this.#onBehind();
    this.#journaled += added.length;
    const release = (areWritten: boolean) => {
      for (const entry of added) {
        entry.isDurable ||= areWritten;
        entry.release();
      }
    };
    const written = journal.append(added.map(({ receipt }) => receipt)).then(
      () => release(true),
      (cause: unknown) => {
        for (const entry of added) this.#forget(entry);
        this.#onProblem(
          new GatewayError("internal", `The journal failed: ${added.length} receipts are only in memory.`, { cause }),
        );
        release(false);
      },
    );
    this.#journaling = Promise.all([this.#journaling, written]).then(() => {});
    return this.#journaling;
  }

  /** The journal no longer needs to hold it, or does not hold it. */
  #forget(entry: Entry): void {
    if (!entry.journaled) return;
    entry.journaled = false;
    this.#journaled -= 1;
  }

  async #giveUpAll(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) entry.release();
    const untilMs = this.#clock.nowMs() + this.#drainMs;
    for (const [index, { receipt }] of entries.entries()) {
      this.#giveUp(receipt, "the ledger was closed while the store failed");
      if (index % LINES_AT_A_TIME === LINES_AT_A_TIME - 1 && this.#clock.nowMs() < untilMs) await this.#written();
    }
  }

  /** Losing an intent loses nothing: its call is refused. */
  #giveUp(receipt: Receipt, reason: string, cause?: unknown): void {
    if (isIntent(receipt)) return;
    this.#lost += 1;
    this.#onProblem(refusal(receipt, reason, cause));
  }

  /** One timer for all waiting rows, instead of one for each. */
  #watch(delayMs: number): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#clock.after(delayMs, () => this.#look());
  }

  #look(): void {
    this.#watching = false;
    const nowMs = this.#clock.nowMs();
    let nextMs = this.#commitTimeoutMs;
    let late = 0;
    for (const entry of this.#queue) {
      const leftMs = entry.sinceMs + this.#commitTimeoutMs - nowMs;
      if (leftMs > 0) {
        nextMs = leftMs;
        break;
      }
      late += 1;
      if (this.#journal === undefined) entry.release();
    }
    if (late > 0) {
      this.#late = true;
      void this.#toJournal(this.#queue.slice(0, late));
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
  const message = `The receipt ${id} of key ${key} (${costNanoUsd} nano-dollars) was lost: ${reason}. Its content: ${what}.`;
  return new GatewayError("overloaded", message, { cause });
}
