import type { SQL } from "bun";
import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import {
  type ChangeStamp,
  type FollowUp,
  type Parameter,
  type Queries,
  STATEMENT_MS,
  type Storage,
  type StoredRow,
} from "./storage.ts";
import { StorageTimeout } from "./storage-timeout.ts";
import { readChangeStamp } from "./tables/change-counter.ts";

/** The connect timeout is shorter than the statement timeout, to distinguish a silent host from a slow one. */
const CONNECT_SHARE = 0.8;
/** How long a live server may take to confirm that it has stopped a statement. */
const CANCEL_SHARE = 0.2;
/** A server that has to be started takes longer for the first connection. */
const START_CONNECT_MS = 10_000;

/** PostgreSQL's text cannot contain a NUL; a hostile string with one is still only data, and matches nothing. */
export function postgresText(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}

/** Statements under one deadline, on the connections that were open when they began. */
interface Attempt {
  pool: SQL;
  /** Nothing more may run under it. */
  over: boolean;
  /** The statement that the server is asked to stop when time is up. */
  running?: SQL.Query<StoredRow[]>;
}

/**
 * PostgreSQL, which may stop answering without closing its connections: a frozen host, a pooler that hangs, a firewall
 * that dropped them (H29). Each statement has a deadline. A live server then stops the statement on request; a silent
 * one loses all of its connections, and new ones are opened.
 */
export class PostgresStorage implements Storage {
  readonly engine = "postgres";
  readonly #makePool: () => SQL;
  readonly #clock: Clock;
  readonly #statementMs: number;
  #pool: SQL;
  /** The server did not answer the last time. */
  #silent = false;
  #closed = false;

  private constructor(makePool: () => SQL, clock: Clock, statementMs: number) {
    this.#makePool = makePool;
    this.#clock = clock;
    this.#statementMs = statementMs;
    this.#pool = makePool();
  }

  static async open(url: URL, clock: Clock, connections: number, statementMs = STATEMENT_MS): Promise<PostgresStorage> {
    const database = decodeURIComponent(url.pathname.slice(1));
    const makePool = () =>
      new Bun.SQL({
        url,
        max: connections,
        connectionTimeout: (statementMs * CONNECT_SHARE) / 1000,
        // Connections are renewed now and then: poolers and firewalls drop old ones silently.
        idleTimeout: 300,
        maxLifetime: 1_800,
        // Named here as well, because PGDATABASE in the environment would override the name in the URL.
        ...(database === "" ? {} : { database }),
      });
    const storage = new PostgresStorage(makePool, clock, statementMs);
    await storage.#connect();
    return storage;
  }

  query(
    text: string,
    parameters: readonly Parameter[] = [],
    limitMs = this.#statementMs,
  ): Promise<readonly StoredRow[]> {
    return this.#within(limitMs, (attempt) => run(attempt.pool, text, parameters, attempt));
  }

  async transaction<Result>(work: (queries: Queries) => Promise<Result>, limitMs = this.#statementMs): Promise<Result> {
    const { result } = await this.#within(limitMs, (attempt) =>
      attempt.pool.begin(async (connection) => {
        const queries: Queries = { query: (text, parameters = []) => run(connection, text, parameters, attempt) };
        const done = { result: await work(queries) };
        // The caller was told that it failed, so it must not be committed later.
        if (attempt.over) throw new StorageTimeout(limitMs);
        return done;
      }),
    );
    return result;
  }

  runForEach(text: string, rows: readonly (readonly Parameter[])[], followUp?: FollowUp): Promise<void> {
    return this.transaction(async (queries) => {
      const given = followUp === undefined ? [] : await queries.query(followUp.given);
      const changes: number[] = [];
      for (const row of rows) changes.push(changesOf(await queries.query(text, row)));
      for (const [text, parameters] of followUp?.statements(changes, given) ?? [])
        await queries.query(text, parameters);
    });
  }

  changeStamp(): Promise<ChangeStamp> {
    return readChangeStamp(this);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispose(this.#pool);
  }

  async #connect(): Promise<void> {
    const untilMs = this.#clock.nowMs() + START_CONNECT_MS;
    for (;;) {
      try {
        await this.#pool.connect();
        return;
      } catch (thrown) {
        const timedOut = thrown instanceof Bun.SQL.PostgresError && thrown.code === "ERR_POSTGRES_CONNECTION_TIMEOUT";
        if (timedOut && this.#clock.nowMs() < untilMs) continue;
        await this.close();
        throw thrown;
      }
    }
  }

  async #within<Result>(requestedMs: number, begin: (attempt: Attempt) => Promise<Result>): Promise<Result> {
    // Long timeouts are for work, not for a silent server.
    const limitMs = this.#silent ? Math.min(requestedMs, this.#statementMs) : requestedMs;
    const attempt: Attempt = { pool: this.#pool, over: false };
    const work = begin(attempt);
    try {
      const result = await withTimeout(work, limitMs, this.#clock, () => new StorageTimeout(limitMs));
      this.#silent = false;
      return result;
    } catch (thrown) {
      if (!(thrown instanceof StorageTimeout) || attempt.over) throw thrown;
      await this.#giveUp(attempt, work);
      throw thrown;
    }
  }

  async #giveUp(attempt: Attempt, work: Promise<unknown>): Promise<void> {
    attempt.over = true;
    // A server that is known to be silent would only take one more connection.
    if (!this.#silent) {
      attempt.running?.cancel();
      const confirmed = work.then(
        () => true,
        () => true,
      );
      const graceMs = this.#statementMs * CANCEL_SHARE;
      if (await withTimeout(confirmed, graceMs, this.#clock, () => undefined).catch(() => false)) return;
    }
    this.#silent = true;
    if (this.#pool !== attempt.pool || this.#closed) return;
    this.#pool = this.#makePool();
    // Statements on other connections, which may be alive, get a moment to finish.
    void this.#dispose(attempt.pool);
  }

  /** Closes the connections; statements that still run on them fail. */
  async #dispose(pool: SQL): Promise<void> {
    const graceMs = this.#statementMs * CANCEL_SHARE;
    const closed = pool.close({ timeout: graceMs / 1000 });
    await withTimeout(closed, graceMs * 2, this.#clock, () => undefined).catch(() => {});
  }
}

async function run(
  sql: SQL,
  text: string,
  parameters: readonly Parameter[],
  attempt: Attempt,
): Promise<readonly StoredRow[]> {
  if (attempt.over) throw new StorageTimeout(0);
  const values = parameters.map((value) => (typeof value === "string" ? postgresText(value) : value));
  const query = sql.unsafe<StoredRow[]>(numbered(text), values);
  attempt.running = query;
  return await query;
}

/** The client adds the count to the rows; a statement without RETURNING has no rows. */
const changesOf = (rows: readonly StoredRow[]): number => ("count" in rows && Number(rows.count)) || 0;

/** Writes `?` as PostgreSQL's `$1`, `$2`, … No statement contains a question mark otherwise. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll("?", () => {
    count += 1;
    return `$${count}`;
  });
}
