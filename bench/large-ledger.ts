/**
 * `bin/bun bench/large-ledger.ts [--rows 5000000] [--store sqlite|postgres]`: fills a storage of the version before roll-ups with receipts of 30 days, brings
 * it up to date, and measures what reports, pages and exports take and read. Ends with 1 where one passes its bound.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { system } from "../src/base/system.ts";
import { migrate } from "../src/storage/migrate.ts";
import { MIGRATIONS } from "../src/storage/migrations/index.ts";
import { openStorage } from "../src/storage/open.ts";
import { PostgresStorage } from "../src/storage/postgres.ts";
import { SqliteStorage } from "../src/storage/sqlite.ts";
import { REPORT_MS, START_SUMS_MS, type Storage } from "../src/storage/storage.ts";
import { startPostgres } from "../testing/postgres.ts";
import { countReads, type Reads } from "../testing/read-counter.ts";
import { fill } from "./large-ledger-fill.ts";
import { type LedgerSize, QUESTIONS, type Question } from "./large-ledger-questions.ts";

const { values } = parseArgs({
  options: { rows: { type: "string", default: "5000000" }, store: { type: "string", default: "sqlite" } },
});
const rows = Number(values.rows);
const folder = mkdtempSync(join(tmpdir(), "trivium-large-"));
const server = values.store === "postgres" ? await startPostgres() : undefined;
const url = server?.url ?? `sqlite:${join(folder, "large.db")}`;

async function timed<Result>(work: () => Promise<Result>): Promise<{ ms: number; result: Result }> {
  const startedMs = performance.now();
  const result = await work();
  return { ms: performance.now() - startedMs, result };
}

async function step(what: string, work: () => Promise<unknown>): Promise<void> {
  const { ms } = await timed(work);
  console.log(`${what.padEnd(50)} ${(ms / 1000).toFixed(1).padStart(8)} s`);
}

/** Of this process, in megabytes. */
function residentMegabytes(which: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`^${which}:\\s+(\\d+) kB$`, "m").exec(readFileSync("/proc/self/status", "latin1"));
  return Number(found?.[1]) / 1024;
}

/** By how many megabytes the process is larger at most while the work is done. */
async function grown<Result>(work: () => Promise<Result>): Promise<{ megabytes: number; result: Result }> {
  Bun.gc(true);
  // The kernel forgets the highest size so far.
  writeFileSync("/proc/self/clear_refs", "5");
  const before = residentMegabytes("VmRSS");
  const result = await work();
  return { megabytes: residentMegabytes("VmHWM") - before, result };
}

/** With the thread that reads a SQLite file, whose start is no part of a question. */
async function open(): Promise<Storage> {
  const storage = await openStorage(url, system.clock);
  await storage.query("SELECT 1", [], REPORT_MS);
  return storage;
}

/** A page of SQLite holds more than ten receipts or sums; it reads the sums of days three times, and finds each part anew from the root. */
const mostPages = (mostRows: number): number => (3 * mostRows) / 10 + 500;

function verdict({ mostRows, mostMegabytes }: Question, size: LedgerSize, reads: Reads, megabytes: number): string[] {
  const most = mostRows(size);
  const tooMuch = reads.rows === undefined ? reads.pages > mostPages(most) : reads.rows > most;
  return [
    ...(tooMuch ? [`reads more than ${reads.rows === undefined ? mostPages(most) : most}`] : []),
    ...(megabytes > mostMegabytes ? [`takes more than ${mostMegabytes} MB`] : []),
  ];
}

async function measure(question: Question, size: LedgerSize): Promise<boolean> {
  const { result: first, reads } = await countReads(url, open, (storage) =>
    grown(() => timed(() => question.ask(storage))),
  );
  const storage = await open();
  const again = await timed(() => question.ask(storage)).finally(() => storage.close());
  const { ms, result } = first.result;
  const passed = verdict(question, size, reads, first.megabytes);
  const amounts = [
    `${ms.toFixed(0).padStart(7)} ms`,
    `${again.ms.toFixed(0).padStart(6)} ms`,
    `${(reads.rows ?? "-").toLocaleString("en").padStart(9)} rows`,
    `${reads.pages.toLocaleString("en").padStart(8)} pages`,
    `${first.megabytes.toFixed(0).padStart(4)} MB`,
  ];
  console.log(`${question.what.padEnd(50)} ${amounts.join(" ")}  ${[result, ...passed].join("; ")}`);
  return passed.length === 0;
}

async function sizeOf(storage: Storage): Promise<LedgerSize> {
  const count = async (table: string) => {
    const [row] = await storage.query(`SELECT COUNT(*) AS count FROM ${table}`, [], START_SUMS_MS);
    return Number(row?.["count"]);
  };
  return { receipts: rows, hours: await count("usage_hours"), days: await count("usage_days") };
}

try {
  const old =
    server === undefined
      ? await SqliteStorage.open(join(folder, "large.db"), system.clock)
      : await PostgresStorage.open(new URL(url), system.clock, 10);
  const before = MIGRATIONS.findIndex(({ name }) => name === "roll-ups");
  await migrate(old, MIGRATIONS.slice(0, before), 1);
  await step(`${values.store}: fill ${rows} rows`, () => fill(old, rows));
  await old.close();
  await step("migration: sums of all rows", async () => (await openStorage(url, system.clock)).close());
  const storage = await openStorage(url, system.clock);
  // What autovacuum does some minutes later, between ordinary writes all the time: without it, who reads a page first writes it, too.
  if (server !== undefined) await step("vacuum", () => storage.query("VACUUM (ANALYZE)", [], START_SUMS_MS));
  const size = await sizeOf(storage);
  await storage.close();
  console.log(`sums of hours: ${size.hours}, of days: ${size.days}`);
  console.log(`${"".padEnd(50)}      first      again           read                   memory`);
  let isWithin = true;
  for (const question of QUESTIONS) isWithin = (await measure(question, size)) && isWithin;
  console.log(isWithin ? "all results are within their bounds" : "some results exceed their bounds");
  if (!isWithin) process.exitCode = 1;
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
