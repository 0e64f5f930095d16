import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { ABANDONED_MS, FileJournal } from "./journal.ts";
import { encodeRecord } from "./journal-records.ts";
import { LeftJournals, leftBefore } from "./left-journals.ts";
import { recoverJournals } from "./recover-journals.ts";
import { deleteOldReceipts } from "./retention.ts";
import { rollUpBefore } from "./roll-up-before.ts";

const rows = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => sampleReceipt({ id: `${prefix}${at}` }));

describe("H21: the journal", () => {
  let folder: string;
  let storage: Storage;
  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), "trivium-journal-")), "journal");
    storage = await openMemoryStorage(system.clock);
  });
  afterEach(async () => {
    for (const journal of opened.splice(0)) await journal.close();
    await storage.close();
    rmSync(join(folder, ".."), { recursive: true, force: true });
  });

  const opened: FileJournal[] = [];
  const open = (maxBytes = 1024 ** 2) => {
    const journal = new FileJournal({ ...system, folder, maxBytes });
    opened.push(journal);
    return journal;
  };
  const recover = (wallMs = Date.now(), own?: string) =>
    recoverJournals({ storage, folder, isLeft: leftBefore(wallMs), ...(own === undefined ? {} : { own }) });
  const storedIds = async () => {
    const found = await storage.query("SELECT id FROM receipts ORDER BY id");
    return found.map((row) => String(row["id"]));
  };
  const later = () => Date.now() + ABANDONED_MS + 1_000;

  test("is readable only by its owner, and leaves no file behind that has no content", async () => {
    const journal = open();
    expect(existsSync(folder)).toBe(false);
    await journal.append(rows("a", 2));
    expect(statSync(journal.path).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await journal.clear();
    await journal.append(rows("b", 1));
    expect(await recover(later())).toEqual({ rows: 1, damaged: [] });
    expect(await storedIds()).toEqual(["b0"]);
    await journal.clear();
    await journal.clear();
    await journal.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("with content stays when its process ends", async () => {
    const journal = open();
    await journal.append(rows("a", 2));
    await journal.close();
    expect(await recover(later())).toEqual({ rows: 2, damaged: [] });
  });

  test("takes room on the disk ahead, keeps it when it is cleared, and writes into it", async () => {
    const journal = open();
    await journal.reserve();
    const { size, blocks } = statSync(journal.path);
    expect(size).toBe(1024 ** 2);
    // Not a hole, for which the disk might have no room later.
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    await journal.append(rows("a", 300));
    await journal.clear();
    await journal.append(rows("b", 3));
    expect(statSync(journal.path).size).toBe(size);
    expect(await recover(later())).toEqual({ rows: 3, damaged: [] });
    expect(readdirSync(folder)).toEqual([]);
  });

  test("gets more room for more calls, in the background", async () => {
    const journal = open();
    await journal.reserve();
    const { size } = statSync(journal.path);
    expect(journal.shortage(1)).toBeUndefined();
    expect(journal.shortage(100)).toBeUndefined();
    // It runs after the steps that were begun before.
    await journal.append(rows("a", 1));
    expect(statSync(journal.path).size).toBe(2 * size);
    await journal.clear();
    expect(statSync(journal.path).size).toBe(size);
  });

  test("of killed processes without content are removed by the next start, and those with content only later", async () => {
    const [unused, used] = [open(), open()];
    await unused.reserve();
    await used.append(rows("a", 1));
    const old = Date.now() / 1000 - 3600;
    for (const { path } of [unused, used]) utimesSync(path, old, old);
    const { isLeft } = new LeftJournals(() => 0);
    const start = () => recoverJournals({ storage, folder, isLeft, isUnused: leftBefore(Date.now()) });
    expect(await start()).toEqual({ rows: 1, damaged: [] });
    expect(readdirSync(folder)).toEqual([basename(used.path)]);
  });

  test("that another process took for abandoned and removed is written anew", async () => {
    const journal = open();
    await journal.reserve();
    expect(await recover(later())).toEqual({ rows: 0, damaged: [] });
    expect(existsSync(journal.path)).toBe(false);
    await journal.append(rows("a", 2));
    expect(await recover(later())).toEqual({ rows: 2, damaged: [] });
  });

  test("of a dead process is copied to the store once, however often it is read", async () => {
    const journal = open();
    await Promise.all([journal.append(rows("a", 300)), journal.append(rows("b", 1)), journal.append(rows("c", 300))]);
    // The process may still be alive: its file stays.
    expect(await recover()).toEqual({ rows: 601, damaged: [] });
    expect(readdirSync(folder)).toEqual([basename(journal.path)]);
    expect(await recover(later())).toEqual({ rows: 601, damaged: [] });
    expect(readdirSync(folder)).toEqual([]);
    expect(await storedIds()).toHaveLength(601);
    expect(await recover(later())).toEqual({ rows: 0, damaged: [] });
  });

  test("H30: of a live process is not removed by another whose clock is an hour ahead, or is changed", async () => {
    const journal = open();
    await journal.append(rows("a", 1));
    let nowMs = 0;
    const { isLeft } = new LeftJournals(() => nowMs);
    const look = () => recoverJournals({ storage, folder, isLeft });
    // The other process touches it by its own clock.
    for (const ahead of [0, -3_600, 86_400, -86_400]) {
      const seconds = Date.now() / 1000 + ahead;
      utimesSync(journal.path, seconds, seconds);
      for (let looks = 0; looks < 2; looks++, nowMs += ABANDONED_MS / 2) await look();
      expect(existsSync(journal.path)).toBe(true);
    }
    nowMs += ABANDONED_MS;
    expect(await look()).toEqual({ rows: 1, damaged: [] });
    expect(existsSync(journal.path)).toBe(false);
  });

  test("that grows while it is read is not removed", async () => {
    const journal = open();
    await journal.append(rows("a", 1));
    const before = storage.runForEach.bind(storage);
    storage.runForEach = async (text, parameters, next) => {
      storage.runForEach = before;
      await before(text, parameters, next);
      await journal.append(rows("b", 1));
    };
    await recover(later());
    expect(existsSync(journal.path)).toBe(true);
    expect(await recover(later())).toEqual({ rows: 2, damaged: [] });
  });

  test("of this process is left alone", async () => {
    const journal = open();
    await journal.append(rows("a", 1));
    expect(await recover(later(), journal.path)).toEqual({ rows: 0, damaged: [] });
    expect(existsSync(journal.path)).toBe(true);
    await journal.clear();
  });

  test("reports when it is full", async () => {
    const journal = open(1_000);
    expect(journal.full).toBe(false);
    await journal.append(rows("a", 5));
    expect(journal.full).toBe(true);
    await journal.clear();
    expect(journal.full).toBe(false);
  });

  test("that is damaged yields its whole records, and is kept under another name", async () => {
    const journal = open();
    await journal.append(rows("a", 2));
    const { size } = statSync(journal.path);
    appendFileSync(journal.path, "17 deadbeef {}\n");
    appendFileSync(journal.path, Buffer.concat(rows("b", 2).map(encodeRecord)));
    const old = Date.now() / 1000 - 3600;
    utimesSync(journal.path, old, old);
    const path = `${journal.path}.damaged`;
    expect(await recover()).toEqual({
      rows: 4,
      damaged: [{ path, places: [{ offset: size, length: 15 }], refused: [], expired: [] }],
    });
    expect(await storedIds()).toEqual(["a0", "a1", "b0", "b1"]);
    expect(readdirSync(folder)).toEqual([basename(path)]);
    expect(await recover()).toEqual({ rows: 0, damaged: [] });
  });

  test("with a row that the store rejects yields all others, and names the rejected one", async () => {
    const journal = open();
    await journal.append(rows("a", 3));
    await journal.append([{ ...sampleReceipt({ id: "odd" }), usage: null as never }]);
    await journal.append(rows("b", 3));
    const before = storage.runForEach.bind(storage);
    storage.runForEach = async (text, parameters, next) => {
      if (parameters.some((row) => row.includes("odd"))) throw new TypeError("Binding expected string");
      await before(text, parameters, next);
    };
    const path = `${journal.path}.damaged`;
    expect(await recover(later())).toEqual({
      rows: 6,
      damaged: [{ path, places: [], refused: ["odd"], expired: [] }],
    });
    expect(await storedIds()).toEqual(["a0", "a1", "a2", "b0", "b1", "b2"]);
  });

  test("that is read after retention has deleted its rows does not add to their sums again", async () => {
    const dayMs = 86_400_000;
    const at = (createdAtMs: number) => sampleReceipt({ id: `rcp_${timePrefix(createdAtMs)}`, createdAtMs });
    const [old, fresh] = [at(Date.now() - 3 * dayMs), at(Date.now())];
    const journal = open();
    await journal.append([old, fresh]);
    // It was stored, and its process was killed before the journal was removed.
    await insertReceipts(storage, [old]);
    await deleteOldReceipts({ storage, clock: system.clock, retentionDays: 1 });
    const calls = async () => {
      await rollUpBefore(storage, Date.now() + 1_000);
      const [row] = await storage.query("SELECT SUM(calls) AS calls FROM usage_days");
      return Number(row?.["calls"]);
    };
    const path = `${journal.path}.damaged`;
    expect(await recover(later())).toEqual({
      rows: 1,
      damaged: [{ path, places: [], refused: [], expired: [old.id] }],
    });
    expect(await calls()).toBe(2);
    expect(await storedIds()).toEqual([fresh.id]);
  });

  test("a failed write is an error, and loses no row that follows", async () => {
    const journal = new FileJournal({ ...system, folder: "/proc/no-such-folder", maxBytes: 1_000 });
    await expect(journal.append(rows("a", 1))).rejects.toThrow();
    expect(journal.shortage(1)).toBe("the disk of its journal cannot be written");
    await expect(journal.append(rows("b", 1))).rejects.toThrow();
    await journal.clear();
    await journal.close();
  });

  test("of 20 MB is read in chunks", async () => {
    const journal = open(1024 ** 3);
    const receipt = sampleReceipt({ model: "m".repeat(1_000) });
    for (let batch = 0; batch < 10; batch++) {
      await journal.append(Array.from({ length: 1_000 }, (_, at) => ({ ...receipt, id: `r${batch}-${at}` })));
    }
    expect(statSync(journal.path).size).toBeGreaterThan(15_000_000);
    expect(await recover(later())).toEqual({ rows: 10_000, damaged: [] });
    expect(await storedIds()).toHaveLength(10_000);
  });
});
