import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import type { Receipt } from "../canon/receipt.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import type { Storage } from "../storage/storage.ts";
import type { Journal } from "./journal.ts";
import { LedgerWriter, type LedgerWriterOptions } from "./writer.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-ledger-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** A storage that can be made to fail, or to hang, as a real one does. */
class TroubledStorage implements Storage {
  readonly engine: Storage["engine"];
  /** `after`: the rows are stored, but the response is lost. `hang`: no response until `answerFirst`. */
  fault: "none" | "before" | "after" | "hang" = "none";
  /** The id of a row that is always rejected, and of one at which the store breaks down. */
  refuses: string | undefined;
  breaksAt: string | undefined;
  /** Inserts of a single row hang. */
  hangsAlone = false;
  /** When each insert arrived, and how many rows it had. */
  readonly inserts: { atMs: number; rows: number }[] = [];
  readonly #hanging: PromiseWithResolvers<void>[] = [];
  readonly #storage: Storage;
  readonly #clock: VirtualClock;

  constructor(storage: Storage, clock: VirtualClock) {
    this.#storage = storage;
    this.#clock = clock;
    this.engine = storage.engine;
  }

  /** Answers the insert that has been hanging for longest. */
  answerFirst(failure?: Error): void {
    const held = this.#hanging.shift();
    if (failure === undefined) held?.resolve();
    else held?.reject(failure);
  }

  query(text: string, parameters?: readonly (string | number | null)[]) {
    return this.#storage.query(text, parameters);
  }

  async runForEach(text: string, rows: readonly (readonly (string | number | null)[])[]) {
    this.inserts.push({ atMs: this.#clock.passedMs, rows: rows.length });
    if (this.fault === "before") throw new Error("store is down");
    if (this.fault === "hang" || (this.hangsAlone && rows.length === 1)) {
      const held = Promise.withResolvers<void>();
      this.#hanging.push(held);
      return await held.promise;
    }
    const holds = (id: string | undefined) => id !== undefined && rows.some((row) => row.includes(id));
    // As the runtime's binding reports a value that it does not accept.
    if (holds(this.refuses))
      throw new TypeError("Binding expected string, TypedArray, boolean, number, bigint or null");
    if (holds(this.breaksAt)) throw new Error("store is down");
    await this.#storage.runForEach(text, rows);
    if (this.fault === "after") throw new Error("connection lost");
  }

  transaction<Result>(work: Parameters<Storage["transaction"]>[0]): Promise<Result> {
    return this.#storage.transaction(work) as Promise<Result>;
  }

  changeStamp(): ReturnType<Storage["changeStamp"]> {
    return this.#storage.changeStamp();
  }

  close(): Promise<void> {
    return this.#storage.close();
  }
}

/** A journal in memory that can fail. */
class MemoryJournal implements Journal {
  ids: string[] = [];
  fails = false;
  full = false;
  cleared = 0;
  /** How many calls it has room for. */
  room = Number.POSITIVE_INFINITY;

  async append(receipts: readonly Receipt[]): Promise<void> {
    await Promise.resolve();
    if (this.fails) throw new Error("disk is full");
    this.ids.push(...receipts.map(({ id }) => id));
  }

  async clear(): Promise<void> {
    this.ids = [];
    this.cleared += 1;
  }

  async close(): Promise<void> {}

  shortage(calls: number): string | undefined {
    return this.fails || calls > this.room ? "the disk of its journal is full" : undefined;
  }
}

describe("LedgerWriter", () => {
  let clock: VirtualClock;
  let storage: TroubledStorage;
  let problems: string[];
  beforeEach(async () => {
    clock = new VirtualClock();
    storage = new TroubledStorage(await openMemoryStorage(system.clock), clock);
    problems = [];
  });
  afterEach(() => storage.close());

  const open = (options: Partial<LedgerWriterOptions> = {}): LedgerWriter =>
    new LedgerWriter({ storage, clock, onProblem: (error) => problems.push(String(error)), ...options });
  const storedIds = async (): Promise<string[]> => {
    const rows = await storage.query("SELECT id FROM receipts ORDER BY id");
    return rows.map((row) => String(row["id"]));
  };
  const rowsOfInserts = (): number[] => storage.inserts.map(({ rows }) => rows);
  const timesOfInserts = (): number[] => storage.inserts.map(({ atMs }) => atMs);
  const lostRows = (): (string | undefined)[] =>
    problems.filter((one) => one.includes("was lost")).map((one) => /receipt (\S+)/.exec(one)?.[1]);

  const write = (writer: LedgerWriter, id: string, alone?: boolean): Promise<void> =>
    writer.write(sampleReceipt({ id }), alone);
  const writeAll = (writer: LedgerWriter, all: readonly string[]): Promise<unknown> =>
    Promise.all(all.map((id) => write(writer, id)));
  /** How long it took. */
  const waited = async (work: Promise<unknown>): Promise<number> => {
    const sinceMs = clock.nowMs();
    await clock.until(work);
    return clock.nowMs() - sinceMs;
  };

  describe("H21: with a journal", () => {
    test("reports once that it is behind, and recovers when the store has the rows", async () => {
      let told = 0;
      const onBehind = () => {
        told += 1;
      };
      const writer = open({ journal: new MemoryJournal(), onBehind });
      await waited(write(writer, "before"));
      expect([told, writer.isBehind]).toEqual([0, false]);
      storage.fault = "before";
      await waited(writeAll(writer, ids("a", 3)));
      await waited(write(writer, "b"));
      expect([told, writer.isBehind]).toEqual([1, true]);
      storage.fault = "none";
      await clock.pass(5_000);
      expect([told, writer.isBehind]).toEqual([1, false]);
    });

    test("rows go there when the store fails, and callers continue at once", async () => {
      const journal = new MemoryJournal();
      const writer = open({ journal });
      await waited(write(writer, "before"));
      expect(journal.ids).toEqual([]);
      storage.fault = "before";
      expect(await waited(writeAll(writer, ids("a", 3)))).toBeLessThanOrEqual(5);
      expect(await waited(write(writer, "b"))).toBe(0);
      expect([journal.ids, writer.queued]).toEqual([["a0", "a1", "a2", "b"], 4]);
      storage.fault = "none";
      await clock.pass(5_000);
      expect(await storedIds()).toEqual(["a0", "a1", "a2", "b", "before"]);
      expect([journal.ids, journal.cleared, writer.trouble]).toEqual([[], 1, undefined]);
      await waited(write(writer, "after"));
      expect(journal.cleared).toBe(1);
    });

    test("rows that wait for a silent store go there after the timeout", async () => {
      const journal = new MemoryJournal();
      const writer = open({ journal, commitTimeoutMs: 250 });
      storage.fault = "hang";
      expect(await waited(write(writer, "a"))).toBe(250);
      expect(journal.ids).toEqual(["a"]);
      storage.fault = "none";
      storage.answerFirst();
      await clock.pass(1);
      expect(journal.ids).toEqual([]);
    });

    test("if it fails too, rows wait in memory as without one, and are stored later", async () => {
      const journal = new MemoryJournal();
      journal.fails = true;
      const writer = open({ journal });
      storage.fault = "before";
      await waited(writeAll(writer, ids("a", 2)));
      expect(problems.some((one) => one.includes("The journal failed: 2 receipts are only in memory."))).toBe(true);
      storage.fault = "none";
      await clock.pass(5_000);
      expect([await storedIds(), lostRows(), journal.cleared]).toEqual([["a0", "a1"], [], 0]);
    });

    test("rows that a stop cannot store stay there, and are not lost", async () => {
      const journal = new MemoryJournal();
      const writer = open({ journal });
      storage.fault = "before";
      await waited(writeAll(writer, ids("a", 2)));
      await clock.until(writer.close());
      expect([journal.ids, writer.lost, lostRows()]).toEqual([["a0", "a1"], 0, []]);
    });

    test("a row that the store rejects permanently does not keep the journal", async () => {
      const journal = new MemoryJournal();
      const writer = open({ journal });
      storage.fault = "before";
      await waited(writeAll(writer, ["good", "bad"]));
      storage.refuses = "bad";
      storage.fault = "none";
      await clock.pass(5_000);
      expect([await storedIds(), lostRows(), journal.ids]).toEqual([["good"], ["bad"], []]);
    });

    test("a full one refuses calls, and takes the rows of those in flight", async () => {
      const journal = new MemoryJournal();
      const writer = open({ journal });
      expect(writer.refusal).toBeUndefined();
      storage.fault = "before";
      journal.full = true;
      expect(writer.refusal).toContain("journal is full (`ledger.journal_mb`)");
      await waited(write(writer, "a"));
      expect([journal.ids, writer.lost]).toEqual([["a"], 0]);
    });

    test("no call begins for whose row there is no room beside those of the calls in flight", async () => {
      const journal = new MemoryJournal();
      let inFlight = 0;
      const writer = open({ journal, inFlight: () => inFlight });
      journal.room = 3;
      inFlight = 5;
      // The store takes rows.
      expect(writer.refusal).toBeUndefined();
      storage.fault = "before";
      await waited(write(writer, "a"));
      expect(writer.refusal).toBe("its database does not take them, and the disk of its journal is full");
      inFlight = 2;
      expect(writer.refusal).toBeUndefined();
      storage.fault = "none";
      inFlight = 5;
      await clock.pass(5_000);
      expect(writer.refusal).toBeUndefined();
    });

    test("while neither the store nor the journal takes rows, those of calls in flight wait in memory, and no call begins", async () => {
      const journal = new MemoryJournal();
      for (const fault of ["before", "hang"] as const) {
        const writer = open({ journal });
        journal.fails = true;
        storage.fault = fault;
        await waited(writeAll(writer, ids(fault, 3)));
        expect([writer.refusal, writer.queued]).toEqual([
          "its database does not take them, and the disk of its journal is full",
          3,
        ]);
        storage.fault = "none";
        if (fault === "hang") storage.answerFirst(new Error("store is down"));
        await clock.pass(5_000);
        expect([writer.refusal, writer.queued, writer.lost]).toEqual([undefined, 0, 0]);
      }
      expect(await storedIds()).toEqual([...ids("before", 3), ...ids("hang", 3)]);
    });
  });

  describe("group commit", () => {
    test("a single row is committed at once, without waiting for others", async () => {
      const writer = open({ maxWaitMs: 10_000 });
      expect(await waited(write(writer, "alone"))).toBe(0);
      expect(await storedIds()).toEqual(["alone"]);
      expect(writer.queued).toBe(0);
    });

    test("rows of one turn are committed together, and so are rows soon after a commit, after a short delay", async () => {
      const writer = open({ maxWaitMs: 200 });
      expect(await waited(writeAll(writer, ids("a", 50)))).toBe(0);
      for (const [prefix, committedMs] of [
        ["b", 200],
        ["c", 400],
      ] as const) {
        for (const id of ids(prefix, 20)) {
          void write(writer, id);
          await clock.pass(1);
        }
        await clock.pass(180);
        expect(storage.inserts.at(-1)).toEqual({ atMs: committedMs, rows: 20 });
      }
      expect(rowsOfInserts()).toEqual([50, 20, 20]);
      await clock.pass(200);
      expect(await waited(write(writer, "late"))).toBe(0);
      expect(await storedIds()).toHaveLength(91);
    });

    test("a row that no other will follow is committed at once, however recent the last commit was", async () => {
      const writer = open({ maxWaitMs: 10_000 });
      await write(writer, "first");
      expect(await waited(write(writer, "second", true))).toBe(0);
      expect(rowsOfInserts()).toEqual([1, 1]);
    });

    test("inserts have at most the maximum of rows; full ones do not wait, the rest does", async () => {
      const writer = open({ maxRows: 10, maxWaitMs: 200 });
      await write(writer, "first");
      expect(await waited(writeAll(writer, ids("a", 45)))).toBe(200);
      expect(storage.inserts.map(({ atMs, rows }) => [atMs, rows])).toEqual([
        [0, 1],
        [0, 10],
        [0, 10],
        [0, 10],
        [0, 10],
        [200, 5],
      ]);
      expect(await storedIds()).toHaveLength(46);
    });

    test("H20: however many rows wait, they share one timer, and none is left when they are stored", async () => {
      const writer = open({ maxWaitMs: 100 });
      await write(writer, "first");
      const writes = writeAll(writer, ids("a", 50));
      // One for their commit, one for the callers' timeout.
      expect(clock.timers).toBe(2);
      await clock.until(writes);
      await clock.pass(1_000);
      expect(clock.timers).toBe(0);
    });

    test("a long queue leaves the event loop free between inserts", async () => {
      const writer = open({ clock: system.clock, commitTimeoutMs: 5 });
      storage.fault = "before";
      await writeAll(writer, ids("a", 5_000));
      storage.fault = "none";
      let turns = 0;
      const turning = setInterval(() => {
        turns += 1;
      }, 1);
      await writer.flush();
      clearInterval(turning);
      expect(await storedIds()).toHaveLength(5_000);
      expect(turns).toBeGreaterThan(3);
    });
  });

  describe("a store that fails", () => {
    test("H21: responses continue after a short wait, and the rows are stored later, once", async () => {
      const writer = open({ commitTimeoutMs: 60 });
      storage.fault = "before";
      const waits: Promise<number>[] = [];
      const timed = async (id: string): Promise<number> => {
        const sinceMs = clock.nowMs();
        await write(writer, id);
        return clock.nowMs() - sinceMs;
      };
      for (const id of ids("a", 30)) {
        waits.push(timed(id));
        await clock.pass(1);
      }
      expect(new Set(await clock.until(Promise.all(waits)))).toEqual(new Set([60]));
      expect(writer.queued).toBe(30);
      expect(problems[0]).toContain("1 receipts wait, next attempt in 50 ms");
      storage.fault = "none";
      await clock.until(writer.flush());
      expect(await storedIds()).toEqual(ids("a", 30).sort());
      expect(writer.queued).toBe(0);
    });

    test("H21: the writer retries with growing pauses, whatever rows arrive in the meantime", async () => {
      const writer = open();
      storage.fault = "before";
      void write(writer, "late");
      await clock.pass(20);
      void write(writer, "later");
      await clock.pass(7_200);
      expect(timesOfInserts()).toEqual([0, 50, 150, 350, 750, 1_550, 3_150, 5_150, 7_150]);
      storage.fault = "none";
      await clock.pass(2_000);
      expect(await storedIds()).toEqual(["late", "later"]);
      expect(await waited(write(writer, "next"))).toBe(0);
      // The pauses start over with the next failure.
      storage.inserts.length = 0;
      storage.fault = "before";
      await clock.pass(1_000);
      const sinceMs = clock.passedMs;
      void write(writer, "again");
      await clock.pass(60);
      expect(timesOfInserts()).toEqual([sinceMs, sinceMs + 50]);
    });

    test("H21: a flush does not wait for the next attempt, and later rows are stored as usual", async () => {
      const writer = open();
      storage.fault = "before";
      void write(writer, "a");
      await clock.pass(10);
      storage.fault = "none";
      expect(await waited(writer.flush())).toBe(0);
      await clock.pass(1_000);
      expect(await waited(write(writer, "b"))).toBe(0);
      // None of them was empty.
      expect(rowsOfInserts()).toEqual([1, 1, 1]);
    });

    test("H21: rows whose commit was not acknowledged are sent again and stored once", async () => {
      const writer = open({ commitTimeoutMs: 5 });
      storage.fault = "after";
      await clock.until(writeAll(writer, ids("a", 5)));
      expect(writer.queued).toBe(5);
      storage.fault = "none";
      await clock.until(writer.flush());
      expect(await storedIds()).toEqual(ids("a", 5));
    });

    test("H21, H06: a row that the store rejects permanently is logged with its amount; the others are stored", async () => {
      const writer = open({ maxRows: 10 });
      storage.refuses = "a3";
      const writes = ids("a", 20).map((id) => writer.write(sampleReceipt({ id, costNanoUsd: 777 })));
      expect(await waited(Promise.all(writes))).toBe(0);
      expect(await storedIds()).toEqual(
        ids("a", 20)
          .filter((id) => id !== "a3")
          .sort(),
      );
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain("The receipt a3 of key key_1 (777 nano-dollars) was lost");
      expect(writer).toMatchObject({ lost: 1, trouble: undefined });
      await clock.pass(10);
      expect(await waited(write(writer, "next"))).toBe(0);
      expect(writer.queued).toBe(0);
    });

    test("H21: if the store breaks down while rows are stored one by one, the rest wait for it", async () => {
      const writer = open();
      storage.refuses = "a1";
      storage.breaksAt = "a2";
      const [a0, a1, a2, a3] = ids("a", 4).map((id) => write(writer, id));
      expect(await waited(Promise.all([a0, a1]))).toBe(0);
      expect(await waited(Promise.all([a2, a3]))).toBe(250);
      expect(writer.queued).toBe(2);
      expect(await storedIds()).toEqual(["a0"]);
      storage.breaksAt = undefined;
      await clock.until(writer.flush());
      expect(await storedIds()).toEqual(["a0", "a2", "a3"]);
      expect(lostRows()).toEqual(["a1"]);
    });

    test("H20: beyond the limit no call begins, and the rows of those in flight are kept", async () => {
      const writer = open({ maxQueued: 3 });
      storage.fault = "before";
      await clock.until(writeAll(writer, ids("a", 2)));
      expect(writer.refusal).toBeUndefined();
      await clock.until(writeAll(writer, ids("b", 3)));
      expect([writer.queued, writer.refusal, lostRows()]).toEqual([5, "5 receipts wait for its database", []]);
      expect(await writer.writeIntent(sampleReceipt({ id: "c", outcome: "pending" }))).toBe(false);
      storage.fault = "none";
      await clock.until(writer.flush());
      expect(await storedIds()).toEqual(["a0", "a1", "b0", "b1", "b2"]);
      expect(writer.refusal).toBeUndefined();
    });

    test("choices 9, H29: the writer reports why rows wait, and when it can keep no more of them", async () => {
      const writer = open({ maxQueued: 2 });
      expect(writer).toMatchObject({ trouble: undefined, refusal: undefined });
      storage.fault = "before";
      void write(writer, "a");
      await clock.pass(1);
      expect(writer.refusal).toBeUndefined();
      void write(writer, "b");
      expect(writer.trouble).toBe("2 receipts wait for the store: store is down");
      expect(writer.refusal).toBe("2 receipts wait for its database");
      storage.fault = "none";
      await clock.until(writer.flush());
      expect(writer).toMatchObject({ trouble: undefined, refusal: undefined, lost: 0 });
    });
  });

  describe("a store that does not answer (H29)", () => {
    test("H21: it does not block callers", async () => {
      const writer = open({ commitTimeoutMs: 30, drainMs: 50 });
      storage.fault = "hang";
      expect(await waited(write(writer, "a"))).toBe(30);
      const flush = writer.flush();
      expect(await waited(flush.catch(() => {}))).toBe(50);
      await expect(flush).rejects.toThrow("1 receipts are not stored");
      // One insert runs at a time.
      expect(storage.inserts).toHaveLength(1);
    });

    test("after ten seconds the attempt has failed, and its rows are sent again", async () => {
      const writer = open();
      storage.fault = "hang";
      void write(writer, "a");
      await clock.pass(9_999);
      expect(writer.trouble).toBeUndefined();
      expect(storage.inserts).toHaveLength(1);
      storage.fault = "none";
      await clock.pass(251);
      expect(writer.trouble).toBe("1 receipts wait for the store: The store did not answer within 10000 ms.");
      await clock.pass(50);
      expect(await storedIds()).toEqual(["a"]);
      expect(writer).toMatchObject({ queued: 0, trouble: undefined });
    });

    for (const late of [undefined, new Error("connection lost"), new TypeError("a refusal")]) {
      test(`an even later response (${late?.message ?? "stored"}) does not affect the rows of the next attempt`, async () => {
        const writer = open();
        storage.fault = "hang";
        void write(writer, "a");
        await clock.pass(10_250);
        storage.fault = "none";
        await clock.pass(1_000);
        storage.fault = "hang";
        void write(writer, "b");
        await clock.pass(1);
        const { length: inserts } = storage.inserts;
        expect(problems).toHaveLength(1);
        storage.fault = "none";
        storage.answerFirst(late);
        await clock.pass(1);
        expect(writer).toMatchObject({ queued: 1, trouble: undefined, lost: 0 });
        expect(storage.inserts).toHaveLength(inserts);
        expect(problems).toHaveLength(1);
      });
    }

    test("nor does a late response to a single row", async () => {
      const writer = open();
      storage.refuses = "a1";
      storage.hangsAlone = true;
      void writeAll(writer, ids("a", 2));
      await clock.pass(10_250);
      storage.hangsAlone = false;
      await clock.pass(1_000);
      expect(lostRows()).toEqual(["a1"]);
      storage.fault = "hang";
      void write(writer, "b");
      await clock.pass(1);
      storage.answerFirst();
      await clock.pass(1);
      expect(writer.queued).toBe(1);
      expect(await storedIds()).toEqual(["a0"]);
    });
  });

  describe("flush and close", () => {
    test("a flush ends when the rows before it are stored, and does not wait for those after it", async () => {
      const writer = open({ maxRows: 1 });
      storage.fault = "before";
      void writeAll(writer, ["a", "b"]);
      const first = writer.flush();
      void write(writer, "c");
      const second = writer.flush();
      void write(writer, "d");
      await clock.pass(1);
      storage.fault = "none";
      storage.breaksAt = "c";
      await clock.until(first);
      expect(await storedIds()).toEqual(["a", "b"]);
      storage.breaksAt = "d";
      await clock.until(second);
      expect(await storedIds()).toEqual(["a", "b", "c"]);
      expect(clock.passedMs).toBeLessThan(5_000);
    });

    test("a flush does not collect rows, and leaves no timer that would keep the process alive", async () => {
      const writer = open({ maxRows: 10, maxWaitMs: 1_000 });
      await write(writer, "first");
      void writeAll(writer, ids("a", 15));
      expect(await waited(writer.flush())).toBe(0);
      expect(rowsOfInserts()).toEqual([1, 10, 5]);
      await clock.pass(1_000);
      expect(clock.timers).toBe(0);
      expect(await waited(writer.flush())).toBe(0);
    });

    test("closing stores the waiting rows, and accepts no more", async () => {
      const writer = open({ maxWaitMs: 10_000 });
      await write(writer, "a");
      const waiting = write(writer, "b");
      expect(await waited(writer.close())).toBe(0);
      await waiting;
      expect(await storedIds()).toEqual(["a", "b"]);
      await write(writer, "c");
      expect(lostRows()).toEqual(["c"]);
      expect(problems.join()).toContain("the ledger is closed");
      expect(await storedIds()).toEqual(["a", "b"]);
    });

    test("closing while the store is down ends in time and logs every lost row", async () => {
      const writer = open({ drainMs: 80 });
      storage.fault = "before";
      const writes = writeAll(writer, ids("a", 3));
      expect(await waited(writer.close())).toBe(80);
      expect(await waited(writes)).toBe(0);
      expect(problems.join()).toContain("3 receipts are not stored");
      expect(lostRows()).toEqual(ids("a", 3));
      expect(writer).toMatchObject({ queued: 0, lost: 3 });
    });

    test("H29: more rows than the log can buffer are reported as fast as it writes, with their amounts", async () => {
      let [waiting, most] = [0, 0];
      const writer = open({
        drainMs: 80,
        onProblem: (error) => {
          problems.push(String(error));
          waiting += 1;
          most = Math.max(most, waiting);
        },
        written: async () => {
          waiting = 0;
        },
      });
      storage.fault = "before";
      for (const id of ids("a", 1_000)) void writer.write(sampleReceipt({ id, costNanoUsd: 7, usage: { input: 3 } }));
      await clock.until(writer.close());
      const reported = problems.filter(
        (problem) => problem.includes("(7 nano-dollars)") && problem.includes('"input":3'),
      );
      expect(reported).toHaveLength(1_000);
      // A hundred rows at a time, and the earlier report about the store.
      expect(most).toBeWithin(100, 110);
      expect(writer.lost).toBe(1_000);
    });

    test("H29: a slow log does not delay the stop for longer than the store may; every row is still reported", async () => {
      const writer = open({ drainMs: 80, written: () => clock.sleep(50) });
      storage.fault = "before";
      void writeAll(writer, ids("a", 1_000));
      expect(await waited(writer.close())).toBe(80 + 2 * 50);
      expect(lostRows()).toHaveLength(1_000);
    });
  });
});

describe("the ledger's file", () => {
  const spawn = (url: string, prefix: string, count: number) =>
    Bun.spawn([process.execPath, join(import.meta.dir, "writer.child.ts"), url, prefix, String(count)], {
      stdout: "pipe",
      stderr: "inherit",
    });
  const idsIn = async (url: string): Promise<Set<string>> => {
    const storage = await openStorage(url, system.clock);
    const rows = await storage.query("SELECT id FROM receipts");
    await storage.close();
    return new Set(rows.map((row) => String(row["id"])));
  };

  test("choices 13: every row that was reported committed survives a killed process", async () => {
    const url = `sqlite:${join(folder, "killed.db")}`;
    const child = spawn(url, "k", 1_000_000);
    let printed = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      printed += decoder.decode(bytes, { stream: true });
      // Reading on after the kill includes what was reported up to the last moment.
      if (printed.length > 4_000 && !child.killed) child.kill("SIGKILL");
    }
    await child.exited;
    const reported = printed.split("\n").slice(0, -1);
    expect(reported.length).toBeGreaterThan(300);
    const stored = await idsIn(url);
    expect(reported.filter((id) => !stored.has(id))).toEqual([]);
  });

  test("two processes write into one file without losing a row", async () => {
    const url = `sqlite:${join(folder, "shared.db")}`;
    const children = [spawn(url, "a", 150), spawn(url, "b", 150)];
    const printed = await Promise.all(children.map((child) => new Response(child.stdout).text()));
    expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0]);
    const reported = printed.join("").trim().split("\n");
    expect(reported).toHaveLength(1_200);
    expect(await idsIn(url)).toEqual(new Set(reported));
  });
});
