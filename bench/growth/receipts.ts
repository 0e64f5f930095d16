/**
 * `bin/bun bench/growth/receipts.ts --storage sqlite:/tmp/ledger.db --receipts 3000000`: fills a ledger up to that size, a million
 * receipts a day, and measures what a receipt costs there: its insert in batches as the gateway makes them, the first pages and
 * usage, the deletion of old receipts, and its bytes. Call it again with a larger number, and the same ledger grows.
 *
 * `--keys N` (500) have made the calls. `--seconds N` ends a fill early, with 3; `--fill` and `--measure` do only one of both.
 * `--storage postgres://…` takes a database of your own, which should be empty at first.
 */
import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import { system } from "../../src/base/system.ts";
import { summariseUsage } from "../../src/ledger/queries.ts";
import { listReceipts } from "../../src/ledger/receipt-pages.ts";
import { deleteOldReceipts } from "../../src/ledger/retention.ts";
import { rollUpBefore } from "../../src/ledger/roll-up-before.ts";
import { number } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { insertReceipts } from "../../src/storage/receipts/receipts.ts";
import { sqlitePath } from "../../src/storage/redact-storage-url.ts";
import { REPORT_MS, START_SUMS_MS, type Storage } from "../../src/storage/storage.ts";
import { cpuMicroseconds } from "../proc.ts";
import { median } from "../statistics.ts";
import { fill } from "./fill.ts";
import { receiptOf } from "./receipt-of.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(2026, 5, 1);
/** Calls a second: about a million a day. */
const RATE = 12;
const FILLED_AT_ONCE = 250_000;
/** As many as the gateway collects at few calls, at some, at many, and the most that it writes together. */
const BATCHES = [1, 8, 64, 256];
const INSERTED_OF_EACH = 20_480;
const SINGLE = 2_000;
const SWEPT_HOURS = 5;
const TIMES = 5;

const { values } = parseArgs({
  options: {
    storage: { type: "string" },
    receipts: { type: "string", default: "3000000" },
    keys: { type: "string", default: "500" },
    seconds: { type: "string", default: "86400" },
    fill: { type: "boolean", default: false },
    measure: { type: "boolean", default: false },
  },
});
const keys = Number(values.keys);
const url = values.storage ?? "";

const timeOf = (index: number): number => FIRST_MS + Math.floor((index * 1000) / RATE);
const receipts = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => receiptOf(from + index, timeOf(from + index), keys));

/** How many receipts were ever written: the sums keep those that are deleted. */
async function written(storage: Storage): Promise<number> {
  const [row] = await storage.query("SELECT COALESCE(SUM(calls), 0) AS calls FROM usage_days");
  return row === undefined ? 0 : number(row, "calls");
}

async function grow(storage: Storage, until: number, seconds: number): Promise<boolean> {
  const startedMs = performance.now();
  const first = await written(storage);
  let from = first;
  while (from < until && performance.now() - startedMs < seconds * 1000) {
    const next = Math.min(until, from + FILLED_AT_ONCE);
    await fill({ storage, from, until: next, keys, firstMs: FIRST_MS, rate: RATE });
    from = next;
  }
  const took = (performance.now() - startedMs) / 1000;
  console.log(`filled ${from.toLocaleString("en")}: ${((took * 1e6) / (from - first || 1)).toFixed(1)} µs each`);
  return from >= until;
}

interface Cost {
  wallUs: number;
  cpuUs: number;
  /** Of the server's process for this connection. */
  serverUs: number;
}

/** What the work takes per receipt. */
async function cost(storage: Storage, count: number, work: () => Promise<unknown>): Promise<Cost> {
  const server = await serverProcess(storage);
  const before = { wall: performance.now(), cpu: cpuMicroseconds([process.pid]), server: cpuMicroseconds(server) };
  await work();
  return {
    wallUs: ((performance.now() - before.wall) * 1000) / count,
    cpuUs: (cpuMicroseconds([process.pid]) - before.cpu) / count,
    serverUs: (cpuMicroseconds(server) - before.server) / count,
  };
}

async function serverProcess(storage: Storage): Promise<number[]> {
  if (storage.engine === "sqlite") return [];
  const [row] = await storage.query("SELECT pg_backend_pid() AS pid");
  return row === undefined ? [] : [number(row, "pid")];
}

const shown = ({ wallUs, cpuUs, serverUs }: Cost): string =>
  `${wallUs.toFixed(1).padStart(8)} µs, CPU ${cpuUs.toFixed(1)}${serverUs > 0 ? ` + ${serverUs.toFixed(1)} of the server` : ""}`;

async function measureInserts(storage: Storage): Promise<void> {
  let from = await written(storage);
  for (const size of BATCHES) {
    const total = size === 1 ? SINGLE : INSERTED_OF_EACH;
    const batches = Array.from({ length: total / size }, (_, index) => receipts(from + index * size, size));
    const inserted = await cost(storage, total, async () => {
      for (const batch of batches) await insertReceipts(storage, batch);
    });
    from += total;
    const summed = await cost(storage, total, () => rollUpBefore(storage, timeOf(from)));
    const sums = storage.engine === "sqlite" ? `; sums ${shown(summed).trim()}` : "";
    console.log(`insert, ${String(size).padStart(3)} at once ${shown(inserted)}${sums}`);
  }
}

async function measureReads(open: () => Promise<Storage>): Promise<void> {
  const storage = await open();
  const untilMs = timeOf(await written(storage));
  await storage.close();
  const range = { sinceMs: Math.max(FIRST_MS, Math.floor(untilMs / HOUR_MS) * HOUR_MS - 30 * DAY_MS), untilMs };
  const page = (filter: { key?: string }) => (storage: Storage) => listReceipts(storage, filter, { limit: 50 });
  const questions = {
    "first page": page({}),
    "page of a key": page({ key: "key_7" }),
    "page of a key without calls": page({ key: "key_of_none" }),
    "usage by model, up to 30 days": (storage: Storage) => summariseUsage(storage, { ...range, by: ["model"] }),
    "usage by key, up to 30 days": (storage: Storage) => summariseUsage(storage, { ...range, by: ["key"] }),
  };
  for (const [what, ask] of Object.entries(questions)) {
    const storage = await open();
    // Starts the thread that reads a file.
    await storage.query("SELECT 1", [], REPORT_MS);
    const ms: number[] = [];
    for (let count = 0; count <= TIMES; count++) {
      const startedMs = performance.now();
      await ask(storage);
      ms.push(performance.now() - startedMs);
    }
    await storage.close();
    console.log(`${what.padEnd(30)} first ${ms[0]?.toFixed(1)} ms, then ${median(ms.slice(1)).toFixed(1)} ms`);
  }
}

/** Deletes hour by hour, without the pauses between two steps. */
async function measureSweep(storage: Storage): Promise<void> {
  const [oldest] = await storage.query("SELECT created_at_ms FROM receipts ORDER BY id LIMIT 1");
  if (oldest === undefined) return;
  const firstHour = Math.floor(number(oldest, "created_at_ms") / HOUR_MS);
  for (let hour = firstHour + 1; hour <= firstHour + SWEPT_HOURS; hour++) {
    let deleted = 0;
    const clock = { ...system.clock, wallMs: () => hour * HOUR_MS + DAY_MS, sleep: async () => {} };
    const total = await cost(storage, 1, async () => {
      deleted = await deleteOldReceipts({ storage, clock, retentionDays: 1 });
    });
    const [wallUs, cpuUs, serverUs] = [total.wallUs, total.cpuUs, total.serverUs].map((us) => us / deleted);
    console.log(
      `sweep of ${deleted} receipts ${shown({ wallUs: wallUs ?? 0, cpuUs: cpuUs ?? 0, serverUs: serverUs ?? 0 })}`,
    );
  }
}

async function measureSize(storage: Storage): Promise<void> {
  const stored = await storage.query("SELECT COUNT(*) AS receipts FROM receipts", [], START_SUMS_MS);
  const count = stored[0] === undefined ? 0 : number(stored[0], "receipts");
  const sums = await storage.query("SELECT COUNT(*) AS hours FROM usage_hours", [], START_SUMS_MS);
  const hours = sums[0] === undefined ? 0 : number(sums[0], "hours");
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;
  const path = sqlitePath(url);
  if (path !== undefined) {
    const bytes = statSync(path).size;
    console.log(
      `${count} receipts, ${hours} sums of hours: ${megabytes(bytes)}, ${(bytes / count).toFixed(0)} bytes a receipt`,
    );
    return;
  }
  for (const table of ["receipts", "usage_hours", "usage_days", "tag_hours"]) {
    const [row] = await storage.query(
      "SELECT pg_total_relation_size(CAST(? AS regclass)) AS total, pg_indexes_size(CAST(? AS regclass)) AS indexes",
      [table, table],
    );
    if (row === undefined) continue;
    const [total, indexes] = [number(row, "total"), number(row, "indexes")];
    console.log(
      `${table}: ${megabytes(total)}, indexes ${megabytes(indexes)}, ${(total / count).toFixed(0)} bytes a receipt`,
    );
  }
  console.log(`${count} receipts, ${hours} sums of hours`);
}

const open = () => openStorage(url, system.clock, undefined, { connections: 1 });
const filled = await open();
const isFilled = values.measure || (await grow(filled, Number(values.receipts), Number(values.seconds)));
// PostgreSQL keeps the plans that a connection made for a quarter of a million rows.
await filled.close();
const storage = await open();
if (!isFilled) process.exitCode = 3;
else if (!values.fill) {
  console.log(`${(await written(storage)).toLocaleString("en")} receipts in ${storage.engine}`);
  await measureInserts(storage);
  await measureReads(open);
  await measureSize(storage);
  await measureSweep(storage);
}
await storage.close();
