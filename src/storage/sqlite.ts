import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { SQL } from "bun";
import { readKeyChanges } from "./change-counter.ts";
import type { Parameter, Queries, Storage, StoredRow } from "./storage.ts";

/** How long a statement waits, in all, for another process to let go of the file. */
const LOCK_WAIT_MS = 5_000;
/** How much of that wait SQLite may spend inside one call, where it blocks the whole event loop. */
const BLOCKING_WAIT_MS = 20;
const LOCK_RETRY_MS = 10;

const isBusy = (thrown: unknown): boolean =>
  thrown instanceof SQL.SQLiteError && (thrown.code.startsWith("SQLITE_BUSY") || thrown.code === "SQLITE_LOCKED");

export class SqliteStorage implements Storage {
  readonly engine = "sqlite";
  readonly #sql: SQL;
  /**
   * Set while a transaction is open. There is one connection, so a statement from elsewhere would land inside the
   * transaction and be lost with it on a rollback: everybody else waits.
   */
  #openTransaction: Promise<void> | undefined;

  private constructor(sql: SQL) {
    this.#sql = sql;
  }

  /** `path` is a file, made with its folder where there is none, or `:memory:`. */
  static async open(path: string): Promise<SqliteStorage> {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
    const storage = new SqliteStorage(new SQL({ adapter: "sqlite", filename: path }));
    await storage.query(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
    await storage.query("PRAGMA journal_mode = WAL");
    await storage.query("PRAGMA synchronous = NORMAL");
    await storage.query("PRAGMA foreign_keys = ON");
    return storage;
  }

  query(text: string, parameters: readonly Parameter[] = []): Promise<readonly StoredRow[]> {
    return this.#whenUnlocked(async () => {
      while (this.#openTransaction !== undefined) await this.#openTransaction;
      return await runNow(this.#sql, text, parameters);
    });
  }

  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    let started = false;
    return this.#whenUnlocked(
      async () => {
        while (this.#openTransaction !== undefined) await this.#openTransaction;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#openTransaction = promise;
        try {
          // IMMEDIATE takes the write lock at the start, so that no statement of the work can find the file busy.
          const outcome = await this.#sql.begin("immediate", async (connection) => {
            started = true;
            const queries: Queries = { query: (text, parameters = []) => runNow(connection, text, parameters) };
            return { result: await work(queries) };
          });
          return outcome.result;
        } finally {
          this.#openTransaction = undefined;
          resolve();
        }
      },
      () => !started,
    );
  }

  changeStamp(): Promise<string> {
    return readKeyChanges(this);
  }

  async close(): Promise<void> {
    await this.#sql.close();
  }

  /** Tries again while another process holds the file, leaving the event loop free in between. */
  async #whenUnlocked<Result>(attempt: () => Promise<Result>, mayRepeat: () => boolean = () => true): Promise<Result> {
    const startedMs = performance.now();
    for (;;) {
      try {
        return await attempt();
      } catch (thrown) {
        if (!isBusy(thrown) || !mayRepeat() || performance.now() - startedMs > LOCK_WAIT_MS) throw thrown;
        await Bun.sleep(LOCK_RETRY_MS);
      }
    }
  }
}

/** Starts the statement in this very turn; merely awaiting a query would start it in a later one. */
function runNow(sql: SQL, text: string, parameters: readonly Parameter[]): Promise<readonly StoredRow[]> {
  return sql.unsafe<StoredRow[]>(text, parameters as Parameter[]).execute();
}
