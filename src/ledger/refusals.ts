import type { AddressClass } from "../base/address-class.ts";
import type { Cancel, Clock } from "../base/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { deleteRefusalsBefore, type RefusalRow, writeRefusals } from "../storage/tables/refusals.ts";

/** A request that did not become a call. */
export interface Refusal {
  /** The kind of its error. */
  reason: string;
  /** The presented key, even if it is revoked; absent if it does not exist. */
  key?: { readonly id: string; readonly project: string } | undefined;
  addressClass: AddressClass;
  /** For IPv6 the network. */
  address: string;
  /** The client's request and the message to it. */
  told?: { readonly endpoint: string; readonly message: string } | undefined;
}

/** The last refusal of a key, or of requests without one, for one reason. */
export interface RefusalExample {
  reason: string;
  /** Empty without a known key. */
  keyId: string;
  project: string;
  endpoint: string;
  message: string;
  atMs: number;
}

/** The summary of a minute: requests refused for one reason, after the first, which has its own log line. */
export interface RefusalSummary extends Pick<RefusalRow, "reason" | "project" | "keyId" | "address" | "requests"> {}

interface RefusalsOptions {
  storage: Storage;
  clock: Clock;
  /** The id of this process: each process writes separate rows. */
  instance: string;
  /** Called at the end of a minute, at most `MAX_LINES` times. */
  summarise: (summary: RefusalSummary) => void;
  onProblem: (error: unknown) => void;
}

const MINUTE_MS = 60_000;
/** How late counts are written. */
const WRITE_MS = 10_000;
/**
 * Rows of one minute: at most this many with an address, and this many with a key. All others are counted only by
 * reason.
 */
const MAX_WITH_ADDRESS = 64;
const MAX_WITH_KEY = 96;
/** Rows that wait for an unavailable storage; beyond that the oldest are dropped. */
const MAX_WAITING = 5_000;
/** Log lines of one minute: for the first requests, and once more for its summaries. */
const MAX_LINES = 20;
const KEPT_MS = 7 * 24 * 3_600_000;
const OTHER = "other";
const MAX_EXAMPLES = 100;
const MAX_MESSAGE = 300;

interface Counted extends RefusalRow {
  /** The first one has been logged. */
  told: boolean;
  /** How many of them are stored. */
  written: number;
}

/**
 * Counts requests that were refused before they had a receipt, by minute, for the log and for `GET /api/refusals`.
 * Anyone can cause refusals, so everything here is bounded; each request costs two map lookups.
 */
export class Refusals {
  readonly #options: RefusalsOptions;
  #minute = -1;
  #rows = new Map<string, Counted>();
  /** Refusals of the previous minute: they get a summary, and no first line again. */
  #before: ReadonlySet<string> = new Set();
  #lines = 0;
  /** Of past minutes. */
  #waiting: Counted[] = [];
  #cancel: Cancel | undefined;
  #failing = false;
  /** The latest last. Only in memory: a message may quote the request. */
  readonly #examples = new Map<string, RefusalExample>();

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** Returns whether to log this one. */
  count(refusal: Refusal): boolean {
    const minute = Math.floor(this.#options.clock.wallMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#endMinute(minute);
    this.#cancel ??= this.#options.clock.after(WRITE_MS, () => void this.#tick(), { background: true });
    this.#remember(refusal);
    const { name, row } = this.#rowOf(refusal);
    row.requests++;
    if (row.requests > 1 || this.#before.has(name) || this.#lines >= MAX_LINES) return false;
    this.#lines++;
    row.told = true;
    return true;
  }

  /** The latest first. */
  get examples(): RefusalExample[] {
    return [...this.#examples.values()].reverse();
  }

  #remember({ reason, key, told }: Refusal): void {
    if (told === undefined) return;
    const { id = "", project = "" } = key ?? {};
    const name = `${reason}\0${id}`;
    this.#examples.delete(name);
    if (this.#examples.size >= MAX_EXAMPLES) {
      const [oldest = ""] = this.#examples.keys();
      this.#examples.delete(oldest);
    }
    const message = told.message.slice(0, MAX_MESSAGE);
    const atMs = this.#options.clock.wallMs();
    this.#examples.set(name, { reason, keyId: id, project, endpoint: told.endpoint, message, atMs });
  }

  #rowOf({ reason, key, addressClass, address }: Refusal): { name: string; row: Counted } {
    const { id = "", project = "" } = key ?? {};
    const size = this.#rows.size;
    return (
      this.#row({ reason, project, keyId: id, addressClass, address }, size < MAX_WITH_ADDRESS) ??
      this.#row({ reason, project, keyId: id, addressClass, address: OTHER }, size < MAX_WITH_KEY) ??
      this.#row({ reason, project: "", keyId: OTHER, addressClass: OTHER, address: OTHER }, true)
    );
  }

  #row(of: Omit<RefusalRow, "minute" | "requests">, mayAdd: true): { name: string; row: Counted };
  #row(of: Omit<RefusalRow, "minute" | "requests">, mayAdd: boolean): { name: string; row: Counted } | undefined;
  #row(of: Omit<RefusalRow, "minute" | "requests">, mayAdd: boolean): { name: string; row: Counted } | undefined {
    const name = `${of.reason}\0${of.keyId}\0${of.address}`;
    let row = this.#rows.get(name);
    if (row === undefined) {
      if (!mayAdd) return undefined;
      row = { minute: this.#minute, ...of, requests: 0, told: false, written: 0 };
      this.#rows.set(name, row);
    }
    return { name, row };
  }

  /** Reports the minute's summaries, and hands its rows on. */
  #endMinute(next: number): void {
    const rows = [...this.#rows.values()];
    const untold = rows
      .map((row) => ({ ...row, requests: row.requests - (row.told ? 1 : 0) }))
      .filter(({ requests }) => requests > 0)
      .toSorted((one, other) => other.requests - one.requests);
    for (const row of untold.slice(0, MAX_LINES)) this.#options.summarise(row);
    const rest = untold.slice(MAX_LINES).reduce((sum, { requests }) => sum + requests, 0);
    const all = { reason: OTHER, project: "", keyId: OTHER, address: OTHER };
    if (rest > 0) this.#options.summarise({ ...all, requests: rest });
    this.#waiting.push(...rows.filter(isUnwritten));
    if (this.#waiting.length > MAX_WAITING) this.#waiting = this.#waiting.slice(-MAX_WAITING);
    this.#before = new Set(this.#minute + 1 === next ? this.#rows.keys() : []);
    this.#rows = new Map();
    this.#lines = 0;
    this.#minute = next;
  }

  async #tick(): Promise<void> {
    this.#cancel = undefined;
    await this.write();
    if (this.#rows.size === 0 && this.#waiting.length === 0) return;
    this.#cancel ??= this.#options.clock.after(WRITE_MS, () => void this.#tick(), { background: true });
  }

  /** Writes the counts so far; failed writes are retried later. */
  async write(): Promise<void> {
    const { storage, clock, instance, onProblem } = this.#options;
    const minute = Math.floor(clock.wallMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#endMinute(minute);
    const rows = [...this.#waiting, ...this.#rows.values()]
      .filter(isUnwritten)
      .map((row) => ({ row, now: { ...row } }));
    try {
      await writeRefusals(
        storage,
        instance,
        rows.map(({ now }) => now),
      );
      for (const { row, now } of rows) row.written = now.requests;
      this.#waiting = this.#waiting.filter(isUnwritten);
      this.#failing = false;
    } catch (error) {
      // Reported once, not every ten seconds while it lasts.
      if (!this.#failing) onProblem(error);
      this.#failing = true;
    }
  }

  /** Deletes counts older than a week. */
  async sweep(): Promise<void> {
    const { storage, clock } = this.#options;
    await deleteRefusalsBefore(storage, clock.wallMs() - KEPT_MS);
  }

  async close(): Promise<void> {
    this.#cancel?.();
    this.#cancel = () => {};
    await this.write();
  }
}

const isUnwritten = ({ requests, written }: Counted): boolean => requests !== written;
