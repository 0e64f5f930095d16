import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { atRest, eventually } from "../../testing/eventually.ts";
import type { Clock } from "../base/clock.ts";
import { system } from "../base/system.ts";
import { isUnavailable } from "./is-unavailable.ts";
import { openStorage } from "./open.ts";
import { sampleReceipt } from "./receipts/receipt.sample.ts";
import { insertReceipts } from "./receipts/receipts.ts";
import { ReportsBusy } from "./reports-busy.ts";
import { SqliteReader } from "./sqlite-reader.ts";
import { REPORT_MS, type Storage } from "./storage.ts";
import { StorageTimeout } from "./storage-timeout.ts";

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(clock: Clock = system.clock): Promise<{ storage: Storage; path: string }> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-reader-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "trivium.db");
  const storage = await openStorage(`sqlite:${path}`, clock);
  ends.push(() => storage.close());
  return { storage, path };
}

const COUNT = "SELECT COUNT(*) AS count FROM receipts";
/** Counts up to this. */
const LONG = "WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ?) SELECT MAX(n) AS n FROM up";

test("a report sees all earlier writes", async () => {
  const { storage } = await open();
  for (const id of ["rcp_a", "rcp_b", "rcp_c"]) {
    await insertReceipts(storage, [sampleReceipt({ id })]);
    const [here] = await storage.query(COUNT);
    expect(await storage.query(COUNT, [], REPORT_MS)).toEqual([here ?? {}]);
  }
});

test("during a long report, the event loop runs and rows are written", async () => {
  // Without the time limit of reports, which have the lowest priority.
  const { storage } = await open({ ...system.clock, after: () => () => {} });
  await storage.query(COUNT, [], REPORT_MS);
  let isRead = false;
  const reading = storage.query(LONG, [1_000_000], REPORT_MS).finally(() => {
    isRead = true;
  });
  let turns = 0;
  for (; !isRead; turns++) {
    await insertReceipts(storage, [sampleReceipt({ id: `rcp_${turns}` })]);
    await Bun.sleep(0);
  }
  expect(await reading).toEqual([{ n: 1_000_000 }]);
  // In the event loop's own thread there would be one.
  expect(turns).toBeGreaterThan(2);
});

/**
 * The niceness of the thread that serves calls, and of the others. Thread ids are no help, because the system reuses
 * them.
 */
function priorities(): number[] {
  const others = readdirSync("/proc/self/task").filter((thread) => Number(thread) !== process.pid);
  return [process.pid, ...others].map((thread) => getPriority(Number(thread)));
}

test.if(process.platform === "linux")("if processors are short, calls take precedence over reports", async () => {
  const { storage } = await open();
  await storage.query(COUNT, [], REPORT_MS);
  const [ofCalls = 0, ...others] = priorities();
  expect(others).toContain(10);
  expect(ofCalls).toBeLessThan(10);
});

test("a forbidden statement in a report is rejected, and affects no other report", async () => {
  const { storage } = await open();
  const wrong = ["DELETE FROM receipt_rows", "SELECT absent FROM receipts"].map((text) =>
    storage.query(text, [], REPORT_MS).then(
      () => "done",
      (thrown: unknown) => (thrown as Error).message,
    ),
  );
  expect(await Promise.all(wrong)).toEqual(["attempt to write a readonly database", "no such column: absent"]);
  expect(await storage.query(COUNT, [], REPORT_MS)).toEqual([{ count: 0 }]);
});

/** Some tenths of a second: the engine cannot be stopped, and what runs on after a test slows down others. */
const LONG_ENOUGH = 3_000_000;

test("H29: a report that times out is abandoned, and the next one is answered", async () => {
  const { path } = await open();
  const reader = new SqliteReader(path, system.clock);
  ends.push(() => reader.close());
  await expect(reader.query(LONG, [LONG_ENOUGH], 50)).rejects.toThrow(StorageTimeout);
  expect(await reader.query(COUNT, [], 20_000)).toEqual([{ count: 0 }]);
});

test("H29: while two abandoned reports are still running, new ones are refused", async () => {
  const { path } = await open();
  const reader = new SqliteReader(path, system.clock);
  ends.push(() => reader.close());
  const thrown: unknown[] = [];
  // On a busy machine a thread can be abandoned before it has begun to read. It ends at once and does not count.
  while (thrown.length < 20 && !(thrown.at(-1) instanceof ReportsBusy)) {
    thrown.push(await reader.query(LONG, [LONG_ENOUGH], 50).catch((reason: unknown) => reason));
  }
  const busy = thrown.pop();
  expect([busy instanceof ReportsBusy, isUnavailable(busy)]).toEqual([true, true]);
  expect(thrown.length).toBeGreaterThanOrEqual(2);
  expect(thrown.every((reason) => reason instanceof StorageTimeout)).toBe(true);
  const answer = await eventually("a report", () => reader.query(COUNT, [], 20_000).catch(() => undefined));
  expect(answer).toEqual([{ count: 0 }]);
});

test("closing the storage ends its reports", async () => {
  const { path } = await open();
  const reader = new SqliteReader(path, system.clock);
  const reading = reader.query(LONG, [LONG_ENOUGH], 20_000);
  reader.close();
  await expect(reading).rejects.toThrow("the storage is closed");
});

test("decision 0117: while much is written, the log is copied by another thread, and only then", async () => {
  // However slow the machine is, it is much in a short time.
  const { storage, path } = await open({ ...system.clock, nowMs: () => Date.UTC(2026, 0, 1) });
  await storage.query("CREATE TABLE things (id INTEGER PRIMARY KEY, text TEXT)");
  const before = statSync(path).size;
  const write = async (count: number) => {
    for (let at = 0; at < count; at++) await storage.query("INSERT INTO things (text) VALUES (?)", ["x".repeat(3_000)]);
  };
  // Few enough that SQLite does not copy them by itself.
  await write(200);
  const size = () => statSync(path).size;
  expect(await atRest("the file", size)).toBe(before);
  await write(300);
  await eventually("the log to be copied", () => size() > before + 500_000, { seen: size });
});
