import { readFileSync } from "node:fs";
import { SQL } from "bun";

/** Reads of the ledger. */
export interface Reads {
  /** Rows and index entries; undefined if the store does not count them. */
  rows?: number;
  /** Pages of the store: 8 KB in PostgreSQL, 4 KB in SQLite; each as often as it was asked for from outside of the own cache. */
  pages: number;
}

/** Tables whose rows are told from those that a start reads. */
const LEDGER = ["receipts", "usage_hours", "usage_days", "tag_hours", "tag_days", "rolled_up", "intents"];
const SQLITE_PAGE = 4_096;

/** Whether what a process reads can be known. */
export const hasIoCounts = (): boolean => process.platform === "linux";

/**
 * Counts what `work` reads of the ledger, in an own connection to the store that `open` makes: a server tells what a connection has read
 * for certain when it is closed, and a new one has no page of a file in its cache.
 */
export async function countReads<Opened extends { close(): Promise<void> }, Result>(
  url: string,
  open: () => Promise<Opened>,
  work: (opened: Opened) => Promise<Result>,
): Promise<{ result: Result; reads: Reads }> {
  return url.startsWith("sqlite:") ? countInSqlite(open, work) : countInPostgres(url, open, work);
}

type Open<Opened> = () => Promise<Opened>;
type Work<Opened, Result> = (opened: Opened) => Promise<Result>;

/** By the bytes that this process reads. `open` has to have read what is no part of the work. */
async function countInSqlite<Opened extends { close(): Promise<void> }, Result>(
  open: Open<Opened>,
  work: Work<Opened, Result>,
): Promise<{ result: Result; reads: Reads }> {
  const opened = await open();
  try {
    const before = bytesRead();
    const result = await work(opened);
    return { result, reads: { pages: Math.ceil((bytesRead() - before) / SQLITE_PAGE) } };
  } finally {
    await opened.close();
  }
}

function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "latin1"))?.[1]);
}

/** By the server's own statistics. */
async function countInPostgres<Opened extends { close(): Promise<void> }, Result>(
  url: string,
  open: Open<Opened>,
  work: Work<Opened, Result>,
): Promise<{ result: Result; reads: Reads }> {
  // The database is named as well, because PGDATABASE in the environment would override that of the URL.
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  const observer = new SQL({ url, max: 1, database });
  try {
    const before = await readsUntilNow(observer);
    const opened = await open();
    const result = await work(opened).finally(() => opened.close());
    const after = await readsUntilNow(observer);
    return { result, reads: { rows: after.rows - before.rows, pages: after.pages - before.pages } };
  } finally {
    await observer.close();
  }
}

const names = LEDGER.map((name) => `'${name}'`).join(", ");
const COUNTED = `SELECT
  CAST((SELECT SUM(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN (${names})) +
    (SELECT SUM(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN (${names})) AS DOUBLE PRECISION) AS rows,
  CAST((SELECT SUM(heap_blks_read + heap_blks_hit + COALESCE(idx_blks_read + idx_blks_hit, 0))
    FROM pg_statio_user_tables WHERE relname IN (${names})) AS DOUBLE PRECISION) AS pages`;
const OTHERS = `SELECT COUNT(*) AS count FROM pg_stat_activity
  WHERE backend_type IN ('client backend', 'parallel worker') AND datname = current_database() AND pid <> pg_backend_pid()`;

async function readsUntilNow(observer: SQL): Promise<{ rows: number; pages: number }> {
  // Each connection tells what it has read when it ends at the latest.
  while (Number((await observer.unsafe<{ count: number }[]>(OTHERS))[0]?.count) > 0) await Bun.sleep(10);
  const [counted] = await observer.unsafe<{ rows: number; pages: number }[]>(COUNTED);
  if (counted === undefined) throw new Error("the server reported no statistics");
  return counted;
}
