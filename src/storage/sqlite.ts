import { Database, SQLiteError, type Statement } from "bun:sqlite";
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { SqliteReader } from "./sqlite-reader.ts";
import {
  type ChangeStamp,
  type FollowUp,
  type Parameter,
  type Queries,
  REPORT_MS,
  STATEMENT_MS,
  type Storage,
  type StoredRow,
} from "./storage.ts";
import { StorageTimeout } from "./storage-timeout.ts";
import { readChangeStamp } from "./tables/change-counter.ts";

/** The part of that wait that SQLite may spend inside one call, where it blocks the whole event loop. */
const BLOCKING_WAIT_MS = 5;
const LOCK_RETRY_MS = 10;
const MAX_PREPARED = 100;
/** After this many commits within this time the log is copied by another thread. */
const CHECKPOINT_COMMITS = 250;
const CHECKPOINT_WITHIN_MS = 20_000;

const isBusy = (thrown: unknown): boolean =>
  thrown instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(thrown.code ?? "");

/** The file is missing, belongs to another user, or is on a disk without modes. */
const UNCHANGEABLE = new Set(["ENOENT", "EPERM", "ENOTSUP"]);

/** The file contains the secret that signs file URLs: no other user may read it, from the first byte on (S09). */
function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    // Never an existing file: closing it would drop the locks that this process holds on it through SQLite.
    closeSync(openSync(path, "ax", 0o600));
  } catch (thrown) {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
  }
}

/** Earlier versions left it readable by all users. */
function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      chmodSync(file, 0o600);
    } catch (thrown) {
      if (!UNCHANGEABLE.has(codeOf(thrown))) throw thrown;
    }
  }
}

const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? "";

/**
 * SQLite through the runtime's own binding, which keeps statements prepared. The general SQL client does more work for
 * each statement, and every call of the gateway writes one row.
 */
export class SqliteStorage implements Storage {
  readonly engine = "sqlite";
  readonly #database: Database;
  /** Prepared once: they run for every batch of receipts. */
  readonly #begin: Statement;
  readonly #commit: Statement;
  /**
   * Set while a transaction is open. There is only one connection, so a statement from elsewhere would become part of
   * the transaction and be lost on a rollback: all others wait.
   */
  #openTransaction: Promise<void> | undefined;

  /** By their text. The runtime's cache compares the whole text, which takes longer than running the statement. */
  readonly #prepared = new Map<string, Statement<unknown, Parameter[]>>();

  #commits = 0;
  #commitsSinceMs = 0;

  readonly #clock: Clock;
  readonly #statementMs: number;
  /** For reports, which may take long; undefined for a database in memory, which no other connection can read. */
  readonly #reader: SqliteReader | undefined;

  private constructor(database: Database, clock: Clock, statementMs: number, reader: SqliteReader | undefined) {
    this.#reader = reader;
    this.#database = database;
    this.#clock = clock;
    this.#statementMs = statementMs;
    this.#begin = database.query("BEGIN IMMEDIATE");
    this.#commit = database.query("COMMIT");
  }

  /** `path` is a file, created with its folder if missing, or `:memory:`. */
  static async open(path: string, clock: Clock, statementMs = STATEMENT_MS): Promise<SqliteStorage> {
    const inMemory = path === ":memory:";
    if (!inMemory) makePrivate(path);
    const database = new Database(path, { create: true, strict: true });
    const reader = inMemory ? undefined : new SqliteReader(path, clock);
    const storage = await SqliteStorage.over(database, clock, statementMs, reader);
    if (!inMemory) closeToOthers(path);
    return storage;
  }

  /** Uses an open database. If it is a file, reports get a separate reader. */
  static async over(
    database: Database,
    clock: Clock,
    statementMs = STATEMENT_MS,
    reader?: SqliteReader,
  ): Promise<SqliteStorage> {
    const storage = new SqliteStorage(database, clock, statementMs, reader);
    await storage.query(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
    await storage.query("PRAGMA journal_mode = WAL");
    await storage.query("PRAGMA synchronous = NORMAL");
    await storage.query("PRAGMA foreign_keys = ON");
    // A checkpoint copies the log into the file and waits for the disk: rare ones cost a third of frequent ones. While much is
    // written, the reader's thread makes them, because one blocks the event loop for 50 ms.
    await storage.query("PRAGMA wal_autocheckpoint = 8000");
    return storage;
  }

  query(text: string, parameters: readonly Parameter[] = [], limitMs?: number): Promise<readonly StoredRow[]> {
    if (limitMs === REPORT_MS && this.#reader !== undefined) return this.#reader.query(text, parameters, limitMs);
    return this.#whenFree(() => {
      const rows = this.#run(text, parameters);
      if (!text.startsWith("SELECT")) this.#countCommit();
      return rows;
    }, limitMs);
  }

  runForEach(text: string, rows: readonly (readonly Parameter[])[], followUp?: FollowUp): Promise<void> {
    return this.#whenFree(() => {
      const statement = this.#prepare(text);
      this.#begin.run();
      try {
        const given = followUp && (this.#prepare(followUp.given).all() as StoredRow[]);
        const changes = rows.map((row) => statement.run(...row).changes);
        for (const [text, parameters] of followUp?.statements(changes, given ?? []) ?? []) {
          this.#prepare(text).run(...parameters);
        }
        this.#commit.run();
        this.#countCommit();
      } catch (thrown) {
        if (this.#database.inTransaction) this.#database.run("ROLLBACK");
        throw thrown;
      }
    });
  }

  async transaction<Result>(work: (queries: Queries) => Promise<Result>, limitMs?: number): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // IMMEDIATE takes the write lock at the start, so that no statement of the work can find the file busy.
    await this.#whenFree(() => {
      this.#database.run("BEGIN IMMEDIATE");
      this.#openTransaction = promise;
    }, limitMs);
    try {
      const result = await work({ query: async (text, parameters = []) => this.#run(text, parameters) });
      this.#database.run("COMMIT");
      this.#countCommit();
      return result;
    } catch (thrown) {
      if (this.#database.inTransaction) this.#database.run("ROLLBACK");
      throw thrown;
    } finally {
      this.#openTransaction = undefined;
      resolve();
    }
  }

  /** A commit writes about ten pages to the log. */
  #countCommit(): void {
    if (++this.#commits < CHECKPOINT_COMMITS) return;
    const nowMs = this.#clock.nowMs();
    const isBusy = nowMs - this.#commitsSinceMs < CHECKPOINT_WITHIN_MS;
    this.#commits = 0;
    this.#commitsSinceMs = nowMs;
    // If that fails or comes too late, SQLite does it itself at one of the next commits.
    if (isBusy) this.#reader?.checkpoint().catch(() => undefined);
  }

  changeStamp(): Promise<ChangeStamp> {
    return readChangeStamp(this);
  }

  async close(): Promise<void> {
    this.#reader?.close();
    this.#database.close();
  }

  #prepare(text: string): Statement<unknown, Parameter[]> {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.query<unknown, Parameter[]>(text);
    if (this.#prepared.size < MAX_PREPARED) this.#prepared.set(text, statement);
    return statement;
  }

  #run(text: string, parameters: readonly Parameter[]): readonly StoredRow[] {
    return this.#database.query<StoredRow, Parameter[]>(text).all(...parameters);
  }

  /**
   * Waits for an open transaction, and retries while another process holds the file, without blocking the event loop.
   * The statement itself runs at once or not at all: only the wait has a limit.
   */
  async #whenFree<Result>(work: () => Result, limitMs = this.#statementMs): Promise<Result> {
    const { nowMs, sleep } = this.#clock;
    const untilMs = nowMs() + limitMs;
    const leftMs = () => untilMs - nowMs();
    for (;;) {
      while (this.#openTransaction !== undefined) {
        await withTimeout(this.#openTransaction, leftMs(), this.#clock, () => new StorageTimeout(limitMs));
      }
      try {
        return work();
      } catch (thrown) {
        if (!isBusy(thrown) || leftMs() < 0) throw thrown;
        await sleep(LOCK_RETRY_MS);
      }
    }
  }
}
