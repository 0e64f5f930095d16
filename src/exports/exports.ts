import type { Cancel } from "../base/clock.ts";
import type { Sources } from "../base/sources.ts";
import type { ExportSettings } from "../config/config.ts";
import type { ExportFormat } from "../config/export-format.ts";
import type { FileStore } from "../files/file-store.ts";
import { endIdOf } from "../storage/receipts/receipt-ids.ts";
import type { Storage } from "../storage/storage.ts";
import {
  advanceExport,
  failExport,
  finishExport,
  forgetExports,
  hastenExport,
  keepExports,
  leaseExport,
  markExport,
  releaseExport,
  renewExport,
  type StoredExport,
  selectExports,
  selectReceiptWriters,
} from "../storage/tables/exports.ts";
import { EXTENSIONS } from "./open-encoder.ts";
import { ReceiptSource } from "./receipt-source.ts";
import { writeFile } from "./write-file.ts";

interface ExportsOptions extends Sources {
  storage: Storage;
  settings: readonly ExportSettings[];
  /** The process, for the names of files. */
  instance: string;
  leaseMs: number;
  /** Opens a destination. It is called in each run until it succeeds: a destination may be unavailable for a while. */
  open: (settings: ExportSettings, names: string) => Promise<FileStore>;
  onProblem: (error: unknown, what: string) => void;
  /** Called for each file. */
  onFile: (file: { export: string; file: string; rows: number }) => void;
  /** Called when the progress of an export that is no longer configured was deleted. */
  onForgotten: (name: string) => void;
}

/** An export as operators see it. */
export interface ExportState extends ExportSettings {
  /** Absent until the storage has been read. */
  stored?: StoredExport;
  /** Time since which receipts are not exported. */
  lagMs?: number;
  /** Some process works on it. */
  isRunning: boolean;
}

/** What this process has done. */
export interface ExportCounts {
  rows: number;
  files: number;
  failures: number;
}

/** The form of the files' names, as the source of a pattern: by the time, and by the instance that wrote them. */
const FILE_NAMES = "receipts-\\d{8}T\\d{6}\\.\\d{3}Z-[A-Za-z0-9_-]{1,80}\\.(?:jsonl|parquet|focus\\.csv)";

const MAX_TICK_MS = 5_000;
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 300_000;
/** How long transactions that were open when a mark was set may take. */
const WRITERS_MS = 20_000;
const WRITERS_LOOK_MS = 50;
/** An export that no instance has in its configuration any more is forgotten after this time. */
const FORGET_MS = 7 * 86_400_000;
const FORGET_EVERY_MS = 3_600_000;
const MAX_ERROR = 500;

/**
 * Copies settled receipts to folders and buckets, each at least once. One process at a time works on an export, under a lease. A run
 * first sets a mark: every receipt with a smaller id that is stored later is listed as late, so none is missed although receipts are
 * not stored in the order of their ids. A file becomes visible when it is complete, and only then the storage records what is in it.
 */
export class Exports {
  readonly #options: ExportsOptions;
  readonly #owner: string;
  readonly #stores = new Map<string, FileStore>();
  readonly #running = new Map<string, Promise<void>>();
  readonly counts = new Map<string, ExportCounts>();
  #stored: readonly StoredExport[] = [];
  #isStopping = false;
  #isTicking = false;
  #isKept = false;
  #lastFileMs = 0;
  #forgetAtMs = 0;

  constructor(options: ExportsOptions) {
    this.#options = options;
    this.#owner = options.random.id();
    for (const { name } of options.settings) this.counts.set(name, { rows: 0, files: 0, failures: 0 });
  }

  start(): Cancel {
    const { clock, settings } = this.#options;
    const tickMs = Math.min(MAX_TICK_MS, ...settings.map(({ everyMs }) => everyMs));
    const everyMs = settings.length === 0 ? FORGET_EVERY_MS : tickMs;
    void this.tick();
    return clock.every(everyMs, () => void this.tick(), { background: true });
  }

  /** Ends runs early; what they have not written is exported by the next run. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running.values());
  }

  /** Begins the runs that are due, if no other process has. Never rejects. */
  async tick(): Promise<void> {
    if (this.#isTicking || this.#isStopping) return;
    this.#isTicking = true;
    const { settings, onProblem } = this.#options;
    try {
      await this.#keep();
      if (settings.length > 0) this.#stored = await selectExports(this.#options.storage);
      for (const one of settings) await this.#begin(one);
    } catch (error) {
      onProblem(error, "failed to look for due exports; will retry");
    }
    this.#isTicking = false;
  }

  /** As of the last look. */
  states(): ExportState[] {
    const { settings, clock } = this.#options;
    const nowMs = clock.wallMs();
    return settings.map((one) => {
      const stored = this.#stored.find(({ name }) => name === one.name);
      if (stored === undefined) return { ...one, isRunning: false };
      const isRunning = stored.leaseUntilMs > nowMs;
      const { coveredUntilMs } = stored;
      const lag = coveredUntilMs === 0 ? {} : { lagMs: Math.max(0, nowMs - coveredUntilMs) };
      return { ...one, stored, ...lag, isRunning };
    });
  }

  /** The same, read now. */
  async read(): Promise<ExportState[]> {
    const { settings, storage } = this.#options;
    if (settings.length > 0) this.#stored = await selectExports(storage);
    return this.states();
  }

  /** Runs an export now, here or in the process that works on it, when it has ended its run. False if there is none of that name. */
  async run(name: string): Promise<boolean> {
    const { settings, storage } = this.#options;
    const wanted = settings.find((one) => one.name === name);
    if (wanted === undefined) return false;
    await this.#keep();
    // It may have begun before what is wanted now was stored.
    await this.#running.get(name);
    await hastenExport(storage, name);
    await this.#begin(wanted);
    await this.#running.get(name);
    return true;
  }

  /** New exports get their rows, and those that are gone for long lose theirs. */
  async #keep(): Promise<void> {
    const { settings, storage, clock, onForgotten } = this.#options;
    const nowMs = clock.wallMs();
    if (settings.length > 0 && (!this.#isKept || nowMs >= this.#forgetAtMs)) {
      await keepExports(
        storage,
        settings.map(({ name }) => name),
        nowMs,
      );
      this.#isKept = true;
    }
    if (nowMs < this.#forgetAtMs) return;
    this.#forgetAtMs = nowMs + FORGET_EVERY_MS;
    for (const name of await forgetExports(storage, nowMs - FORGET_MS)) onForgotten(name);
  }

  async #begin(settings: ExportSettings): Promise<void> {
    const { storage, clock, leaseMs } = this.#options;
    const { name } = settings;
    if (this.#running.has(name) || this.#isStopping) return;
    const nowMs = clock.wallMs();
    const latestDueMs = Math.ceil(nowMs + Math.max(settings.everyMs, MAX_RETRY_MS) + leaseMs);
    const lease = { nowMs, leaseUntilMs: nowMs + leaseMs, latestDueMs };
    const stored = await leaseExport(storage, this.#held(name), lease);
    if (stored === undefined) return;
    const run = this.#run(settings, stored).finally(() => this.#running.delete(name));
    this.#running.set(name, run);
  }

  /** Never rejects. */
  async #run(settings: ExportSettings, stored: StoredExport): Promise<void> {
    const { storage, clock, leaseMs, onProblem } = this.#options;
    const { name, everyMs } = settings;
    const held = this.#held(name);
    let lost: Error | undefined;
    const renew = () =>
      renewExport(storage, held, clock.wallMs() + leaseMs).then(
        (isHeld) => {
          if (!isHeld) lost = new LeaseLost();
        },
        (error: unknown) => onProblem(error, `failed to renew the lease of the export ${name}`),
      );
    const stopRenewing = clock.every(leaseMs / 3, () => void renew(), { background: true });
    try {
      const coveredUntilMs = await this.#export(settings, stored, () => {
        if (lost !== undefined) throw lost;
        if (this.#isStopping) throw new Stopped();
      });
      // On time although a run takes a while, but never twice for the same time.
      const dueAtMs = Math.max(stored.dueAtMs + everyMs, clock.wallMs() + everyMs / 2);
      await finishExport(storage, held, { ...coveredUntilMs, dueAtMs });
    } catch (error) {
      await this.#end(held, error, stored.failures).catch((err: unknown) =>
        onProblem(err, `failed to record the end of the export ${name}`),
      );
    } finally {
      stopRenewing();
    }
    await this.read().catch(() => {});
  }

  async #end(held: { name: string; owner: string }, error: unknown, failures: number): Promise<void> {
    const { storage, clock, onProblem } = this.#options;
    if (error instanceof Stopped) return await releaseExport(storage, held);
    // The other process records how it ends.
    if (error instanceof LeaseLost) return;
    const counts = this.counts.get(held.name);
    if (counts !== undefined) counts.failures += 1;
    this.#stores.delete(held.name);
    onProblem(error, `the export ${held.name} failed; will retry`);
    const nowMs = clock.wallMs();
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR);
    const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10));
    await failExport(storage, held, { error: reason, nowMs, dueAtMs: nowMs + waitMs });
  }

  async #export(settings: ExportSettings, stored: StoredExport, check: () => void) {
    const { storage, clock, onFile } = this.#options;
    const { name, format } = settings;
    const held = this.#held(name);
    const coveredUntilMs = clock.wallMs();
    const untilId = await markExport(storage, held, endIdOf(coveredUntilMs));
    if (untilId === undefined) throw new LeaseLost();
    await this.#writersEnd(check);
    const store = await this.#storeOf(settings);
    let nextId = stored.nextId;
    for (;;) {
      check();
      const source = new ReceiptSource({ storage, name, fromId: nextId, untilId });
      const file = this.#fileName(format);
      const rows = await writeFile(file, { store, source, format, clock, check });
      if (rows === 0) return { nextId: untilId, coveredUntilMs };
      ({ nextId } = source);
      const isHeld = await advanceExport(storage, held, {
        name: file,
        atMs: clock.wallMs(),
        rows,
        nextId,
        lateIds: source.lateIds,
      });
      if (!isHeld) throw new LeaseLost();
      const counts = this.counts.get(name);
      if (counts !== undefined) {
        counts.rows += rows;
        counts.files += 1;
      }
      onFile({ export: name, file, rows });
    }
  }

  /**
   * Waits for the transactions that were storing receipts when the mark was set: they may not have seen it, and what they store becomes
   * visible when they end.
   */
  async #writersEnd(check: () => void): Promise<void> {
    const { storage, clock } = this.#options;
    const before = await selectReceiptWriters(storage);
    const untilMs = clock.nowMs() + WRITERS_MS;
    for (let left = before; left.size > 0; ) {
      if (clock.nowMs() > untilMs) {
        throw new Error(
          `a transaction that writes receipts has been open for more than ${WRITERS_MS / 1_000} s; the export waits for it`,
        );
      }
      await clock.sleep(WRITERS_LOOK_MS);
      check();
      const now = await selectReceiptWriters(storage);
      left = new Set([...left].filter((writer) => now.has(writer)));
    }
  }

  async #storeOf(settings: ExportSettings): Promise<FileStore> {
    const open = this.#stores.get(settings.name);
    if (open !== undefined) return open;
    const store = await this.#options.open(settings, FILE_NAMES);
    this.#stores.set(settings.name, store);
    return store;
  }

  /** No two files of a process have the same name. */
  #fileName(format: ExportFormat): string {
    this.#lastFileMs = Math.max(this.#lastFileMs + 1, Math.floor(this.#options.clock.wallMs()));
    const time = new Date(this.#lastFileMs).toISOString().replaceAll(/[-:]/g, "");
    return `receipts-${time}-${this.#options.instance}.${EXTENSIONS[format]}`;
  }

  #held = (name: string) => ({ name, owner: this.#owner });
}

/** Another process has taken the export over. */
class LeaseLost extends Error {}

/** The program stops. */
class Stopped extends Error {}
