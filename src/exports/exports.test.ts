import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atRest, eventually } from "../../testing/eventually.ts";
import { testDatabases } from "../../testing/test-databases.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { ExportFormat } from "../config/export-format.ts";
import type { FileStore } from "../files/file-store.ts";
import { openFileStore } from "../files/open-file-store.ts";
import { deleteOldReceipts } from "../ledger/retention.ts";
import { rollUpBefore } from "../ledger/roll-up-before.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipt, insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { keepExports, leaseExport, selectExports } from "../storage/tables/exports.ts";
import { Exports } from "./exports.ts";
import type { ReceiptSource } from "./receipt-source.ts";
import { writeFile } from "./write-file.ts";

const root = mkdtempSync(join(tmpdir(), "trivium-exports-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const HOUR_MS = 3_600_000;

let made = 0;
/** A receipt of that time, with the id that such a receipt gets. */
function receiptOf(createdAtMs: number, changes: Partial<Receipt> = {}): Receipt {
  const digits = Math.floor(createdAtMs).toString(36).padStart(9, "0");
  return sampleReceipt({
    id: `rcp_${digits}${String(++made).padStart(22, "0")}`,
    createdAtMs: Math.floor(createdAtMs),
    ...changes,
  });
}

interface World {
  storage: Storage;
  exports: Exports;
  folder: string;
  problems: string[];
  /** Another process on the same storage. */
  other: (open?: () => Promise<FileStore>) => Promise<Exports>;
  url: string;
}

let folders = 0;

for (const databases of testDatabases("exports")) {
  afterAll(() => databases.clear());

  const inWorld = async (
    run: (world: World) => Promise<void>,
    {
      format = "jsonl",
      everyMs = HOUR_MS,
      leaseMs = 2_000,
    }: { format?: ExportFormat; everyMs?: number; leaseMs?: number } = {},
  ) => {
    const url = await databases.withTables();
    const folder = join(root, String(++folders));
    const problems: string[] = [];
    const opened: Storage[] = [];
    const started: Exports[] = [];
    const make = async (name: string, open?: () => Promise<FileStore>) => {
      const storage = await openStorage(url, system.clock);
      opened.push(storage);
      const exports = new Exports({
        ...system,
        storage,
        settings: [{ name: "all", to: folder, format, everyMs }],
        instance: `instance_${name}`,
        leaseMs,
        open: open ?? (({ to }, names) => openFileStore(to, {}, system, { field: "exports", names })),
        onProblem: (error, what) => problems.push(`${what}: ${error instanceof Error ? error.message : error}`),
        onFile: () => {},
        onForgotten: () => {},
      });
      started.push(exports);
      return { storage, exports };
    };
    try {
      const own = await make("one");
      const other = async (open?: () => Promise<FileStore>) => (await make(`other${started.length}`, open)).exports;
      await run({ ...own, folder, problems, other, url });
    } finally {
      for (const exports of started) await exports.stop();
      for (const storage of opened) await storage.close();
    }
  };

  describe(`exports on ${databases.engine}`, () => {
    test("choices 18: settled receipts are exported once, and the next run continues behind them", () =>
      inWorld(async ({ storage, exports, folder, problems }) => {
        const first = [1, 2, 3].map((hours) => receiptOf(Date.now() - hours * HOUR_MS));
        await insertReceipts(storage, first);
        await exports.run("all");
        expect(idsIn(folder)).toEqual(idsOf(first));
        await exports.run("all");
        expect(readdirSync(folder)).toHaveLength(1);
        const second = receiptOf(Date.now() - 10);
        await insertReceipts(storage, [second]);
        await exports.run("all");
        expect(idsIn(folder)).toEqual(idsOf([...first, second]));
        expect(readdirSync(folder)).toHaveLength(2);
        expect(problems).toEqual([]);
        const [state] = exports.states();
        expect(state).toMatchObject({ isRunning: false, stored: { rows: 4, files: 2, failures: 0 } });
        expect(state?.lagMs).toBeLessThan(10_000);
        for (const name of readdirSync(folder))
          expect(name).toMatch(/^receipts-\d{8}T\d{6}\.\d{3}Z-instance_one\.jsonl$/);
      }));

    test("choices 18: a receipt that is stored after later ones were exported is exported by the next run", () =>
      inWorld(async ({ storage, exports, folder }) => {
        const now = Date.now();
        const onTime = [receiptOf(now - 5 * HOUR_MS), receiptOf(now - HOUR_MS)];
        await insertReceipts(storage, onTime);
        await exports.run("all");
        // As from a journal, from a call that took long, and as a correction.
        const late = [
          receiptOf(now - 30 * 24 * HOUR_MS),
          receiptOf(now - 3 * HOUR_MS),
          receiptOf(onTime[0]?.createdAtMs ?? 0, { adjusts: onTime[0]?.id ?? "", costNanoUsd: -5 }),
        ];
        await insertReceipts(storage, late.slice(0, 2));
        await storage.transaction((queries) => insertReceipt(queries, late[2] as Receipt, storage.engine));
        // The same row again changes nothing.
        await insertReceipts(storage, [...late, ...onTime]);
        await exports.run("all");
        expect(idsIn(folder)).toEqual(idsOf([...onTime, ...late]));
        await exports.run("all");
        expect(readdirSync(folder)).toHaveLength(2);
      }));

    test("choices 18: no receipt is missing while several writers store receipts out of order and two processes export", () =>
      inWorld(
        async ({ storage, exports, folder, other, problems, url }) => {
          const second = await other();
          const written: Receipt[] = [];
          let isWriting = true;
          const write = async (at: number) => {
            const own = await openStorage(url, system.clock);
            for (let count = 0; count < 60; count++) {
              // Between now and a minute ago, in any order.
              const some = [0, 1, 2].map(() => receiptOf(Date.now() - ((count * 7_919 + at * 104_729) % 60_000)));
              await insertReceipts(own, some);
              written.push(...some);
            }
            await own.close();
          };
          const keepExporting = async (one: Exports) => {
            while (isWriting) {
              await one.run("all");
              await Bun.sleep(0);
            }
          };
          const exporting = [keepExporting(exports), keepExporting(second)];
          await Promise.all([write(1), write(2), write(3)]);
          isWriting = false;
          await Promise.all(exporting);
          // Ids of this moment are exported later: a run ends before the time at which it starts.
          await eventually("the last receipts", async () => {
            await exports.run("all");
            return idsIn(folder).length >= written.length;
          });
          expect(written).toHaveLength(540);
          expect(idsIn(folder)).toEqual(idsOf(written));
          expect(problems).toEqual([]);
          expect(await storage.query("SELECT id FROM export_late")).toEqual([]);
        },
        { everyMs: 1 },
      ));

    test("H29: a destination that fails is retried, and nothing is lost", () =>
      inWorld(async ({ storage, folder, other, problems }) => {
        const receipts = [receiptOf(Date.now() - HOUR_MS), receiptOf(Date.now() - 1_000)];
        await insertReceipts(storage, receipts);
        let failures = 0;
        const store = await openFileStore(folder, {}, system, { field: "exports", names: ".*" });
        const breaking: FileStore = Object.assign(Object.create(store) as FileStore, {
          put: async (name: string, content: AsyncIterable<Uint8Array>, maxBytes: number) => {
            if (failures++ > 1) return await store.put(name, content, maxBytes);
            for await (const _ of content) break;
            throw new Error("no space left");
          },
        });
        const exports = await other(async () => breaking);
        await exports.run("all");
        expect(readdirSync(folder)).toEqual([]);
        expect(exports.states()[0]?.stored).toMatchObject({ failures: 1, error: "no space left", files: 0 });
        expect(exports.counts.get("all")).toEqual({ rows: 0, files: 0, failures: 1 });
        await exports.run("all");
        await exports.run("all");
        expect(idsIn(folder)).toEqual(idsOf(receipts));
        expect(exports.states()[0]?.stored?.failures).toBe(0);
        expect(exports.states()[0]?.stored?.error).toBeUndefined();
        expect(problems).toEqual(Array(2).fill("the export all failed; will retry: no space left"));
      }));

    test("H29: an export that hangs is taken over, and its file does not count", () =>
      inWorld(
        async ({ storage, exports, folder, other }) => {
          const receipts = [receiptOf(Date.now() - HOUR_MS)];
          await insertReceipts(storage, receipts);
          const { promise, resolve } = Promise.withResolvers<void>();
          const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
          const store = await openFileStore(folder, {}, system, { field: "exports", names: ".*" });
          const hanging: FileStore = Object.assign(Object.create(store) as FileStore, {
            put: async (name: string, content: AsyncIterable<Uint8Array>, maxBytes: number) => {
              begin();
              await promise;
              return await store.put(name, content, maxBytes);
            },
          });
          const stuck = await other(async () => hanging);
          const running = stuck.run("all");
          await begun;
          // As if its process were stopped: the lease is not renewed.
          await storage.query("UPDATE exports SET lease_until_ms = 0");
          await exports.run("all");
          expect(idsIn(folder)).toEqual(idsOf(receipts));
          resolve();
          await running;
          expect((await selectExports(storage))[0]).toMatchObject({ rows: 1, files: 1, failures: 0 });
        },
        { leaseMs: 60_000 },
      ));

    test("docs/exports.md: retention keeps receipts that are not exported yet", () =>
      inWorld(async ({ storage, exports, folder }) => {
        const old = [40, 39, 38].map((days) => receiptOf(Date.now() - days * 24 * HOUR_MS));
        await keepExports(storage, ["all"], Date.now());
        await insertReceipts(storage, old);
        await rollUpBefore(storage, Date.now(), () => false);
        const retain = () => deleteOldReceipts({ storage, clock: system.clock, retentionDays: 7 });
        expect(await retain()).toBe(0);
        await exports.run("all");
        expect(idsIn(folder)).toEqual(idsOf(old));
        const late = receiptOf(Date.now() - 41 * 24 * HOUR_MS);
        await insertReceipts(storage, [late]);
        expect(await retain()).toBe(3);
        await exports.run("all");
        expect(idsIn(folder)).toEqual(idsOf([...old, late]));
        expect(await retain()).toBe(1);
      }));

    test("docs/exports.md: an export that is no longer configured is forgotten after a week", () =>
      inWorld(async ({ storage, exports }) => {
        await keepExports(storage, ["gone"], Date.now() - 8 * 24 * HOUR_MS);
        await keepExports(storage, ["paused"], Date.now() - 6 * 24 * HOUR_MS);
        await exports.run("all");
        expect((await selectExports(storage)).map(({ name }) => name)).toEqual(["all", "paused"]);
      }));

    if (databases.engine === "postgres") {
      test("choices 18: a transaction that began before a run and ends after it is not skipped", () =>
        inWorld(async ({ storage, exports, folder, url }) => {
          await exports.run("all");
          await millisecondsPass();
          // After the mark of that run, and before the mark of the next.
          const slow = receiptOf(Date.now());
          await millisecondsPass();
          const { promise, resolve } = Promise.withResolvers<void>();
          const { promise: inserted, resolve: wasInserted } = Promise.withResolvers<void>();
          const own = await openStorage(url, system.clock);
          const transaction = own.transaction(async (queries) => {
            await insertReceipt(queries, slow, "postgres");
            wasInserted();
            await promise;
          }, 20_000);
          await Promise.race([inserted, transaction]);
          const running = exports.run("all");
          await atRest("the files", () => existsSync(folder) && idsIn(folder).length);
          expect(existsSync(folder) ? idsIn(folder) : []).toEqual([]);
          // In other sums, which this transaction has not locked.
          const meanwhile = receiptOf(Date.now() - 40, { project: "other" });
          await insertReceipts(storage, [meanwhile]);
          resolve();
          await transaction;
          await running;
          await exports.run("all");
          expect(idsIn(folder)).toEqual(idsOf([slow, meanwhile]));
          await own.close();
        }));

      test("docs/exports.md: without an export, PostgreSQL runs no trigger for it", () =>
        inWorld(async ({ storage, exports }) => {
          const state = async () => {
            const [row] = await storage.query(
              "SELECT tgenabled AS on FROM pg_trigger WHERE tgname = 'receipts_late_for_export'",
            );
            return row?.["on"];
          };
          expect(await state()).toBe("D");
          await exports.run("all");
          expect(await state()).toBe("O");
        }));
    }
  });
}

const idsOf = (receipts: readonly Receipt[]): string[] => receipts.map(({ id }) => id).sort();

/** Ids begin with their time in milliseconds. */
async function millisecondsPass(): Promise<void> {
  const from = Date.now();
  await eventually("the clock to move on", () => Date.now() > from + 1);
}

/** Every id in the files, as often as it occurs. */
function idsIn(folder: string): string[] {
  return readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"))
    .map((line) => (JSON.parse(line) as { id: string }).id)
    .sort();
}

test("H29: a destination that accepts no data for too long ends the file", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const clock = new VirtualClock();
  const frozen = {
    put: async (_name: string, content: AsyncIterable<Uint8Array>) => {
      const chunks = content[Symbol.asyncIterator]();
      await chunks.next();
      await promise;
      // It thaws: nothing more is written.
      await expect(chunks.next()).rejects.toThrow("accepted no data");
      over.resolve();
      return { size: 0 };
    },
  } as unknown as FileStore;
  const pages = Array.from({ length: 3 }, () => [receiptOf(Date.now())]);
  const source = { next: async () => pages.shift() ?? [], lateIds: [], nextId: "" } as unknown as ReceiptSource;
  const options = {
    store: frozen,
    source,
    format: "jsonl",
    clock,
    check: () => {},
    stallMs: 20,
  } as const;
  const writing = clock.until(writeFile("a", options));
  await expect(writing).rejects.toThrow("the destination accepted no data for too long");
  resolve();
  await over.promise;
});

test("H30: an export continues after the clock was set back by a day", async () => {
  const [databases] = testDatabases("exports after a step of the clock");
  const storage = await openStorage((await databases?.withTables()) ?? "", system.clock);
  const held = { name: "all", owner: "one" };
  const ahead = Date.now() + 24 * HOUR_MS;
  await keepExports(storage, ["all"], ahead);
  const latest = (nowMs: number) => ({ nowMs, leaseUntilMs: nowMs + 15_000, latestDueMs: nowMs + HOUR_MS });
  expect(await leaseExport(storage, held, latest(ahead))).toBeDefined();
  expect(await leaseExport(storage, { ...held, owner: "two" }, latest(ahead))).toBeUndefined();
  expect(await leaseExport(storage, { ...held, owner: "two" }, latest(Date.now()))).toBeDefined();
  await storage.close();
  await databases?.clear();
});
