import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipt.sample.ts";
import type { Storage } from "../storage/storage.ts";
import { LedgerWriter, type LedgerWriterOptions } from "./writer.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-ledger-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** A storage that can be made to fail, or to take its time, in the ways a store does. */
class TroubledStorage implements Storage {
  readonly engine: Storage["engine"];
  /** `after`: the rows are kept, but the answer is lost on its way back. */
  fault: "none" | "before" | "after" | "hang" = "none";
  /** The id of a row that is refused whenever it comes, and of one at which the store breaks down. */
  refuses: string | undefined;
  breaksAt: string | undefined;
  inserts = 0;
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.engine = storage.engine;
  }

  query(text: string, parameters?: readonly (string | number | null)[]) {
    return this.#storage.query(text, parameters);
  }

  async runForEach(text: string, rows: readonly (readonly (string | number | null)[])[]) {
    this.inserts += 1;
    if (this.fault === "before") throw new Error("store is down");
    if (this.fault === "hang") return await new Promise<never>(() => {});
    const holds = (id: string | undefined) => id !== undefined && rows.some((row) => row.includes(id));
    // As the runtime's binding says of a value that it does not take.
    if (holds(this.refuses))
      throw new TypeError("Binding expected string, TypedArray, boolean, number, bigint or null");
    if (holds(this.breaksAt)) throw new Error("store is down");
    await this.#storage.runForEach(text, rows);
    if (this.fault === "after") throw new Error("connection lost");
  }

  transaction<Result>(work: Parameters<Storage["transaction"]>[0]): Promise<Result> {
    return this.#storage.transaction(work) as Promise<Result>;
  }

  changeStamp(): Promise<string> {
    return this.#storage.changeStamp();
  }

  close(): Promise<void> {
    return this.#storage.close();
  }
}

describe("LedgerWriter", () => {
  let storage: TroubledStorage;
  let problems: string[];
  beforeEach(async () => {
    storage = new TroubledStorage(await openStorage("sqlite::memory:", system.clock));
    problems = [];
  });
  afterEach(() => storage.close());

  const open = (options: Partial<LedgerWriterOptions> = {}): LedgerWriter =>
    new LedgerWriter({ storage, clock: system.clock, onProblem: (error) => problems.push(String(error)), ...options });
  const storedIds = async (): Promise<string[]> => {
    const rows = await storage.query("SELECT id FROM receipts ORDER BY id");
    return rows.map((row) => String(row["id"]));
  };

  test("a row alone is committed at once, without waiting for others", async () => {
    const writer = open({ maxWaitMs: 10_000 });
    const startedMs = performance.now();
    await writer.write(sampleReceipt({ id: "alone" }));
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    expect(await storedIds()).toEqual(["alone"]);
    expect(writer.queued).toBe(0);
  });

  test("rows of one turn, and rows soon after a commit, go together", async () => {
    const writer = open({ maxWaitMs: 200 });
    await Promise.all(ids("a", 50).map((id) => writer.write(sampleReceipt({ id }))));
    expect(storage.inserts).toBe(1);
    const later = ids("b", 20).map(async (id, index) => {
      await Bun.sleep(index % 5);
      await writer.write(sampleReceipt({ id }));
    });
    await Promise.all(later);
    expect(storage.inserts).toBe(2);
    expect(await storedIds()).toHaveLength(70);
  });

  test("a row that nobody else will follow is committed at once, however short the last commit was ago", async () => {
    const writer = new LedgerWriter({
      clock: system.clock,
      storage,
      maxWaitMs: 10_000,
      onProblem: (error) => problems.push(String(error)),
    });
    await writer.write(sampleReceipt({ id: "first" }));
    const startedMs = performance.now();
    await writer.write(sampleReceipt({ id: "second" }), true);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect(storage.inserts).toBe(2);
    await writer.close();
  });

  test("no insert has more rows than it may, and a full one does not wait", async () => {
    const writer = open({ maxRows: 10, maxWaitMs: 10_000 });
    await writer.write(sampleReceipt({ id: "first" }));
    await Promise.all(ids("a", 40).map((id) => writer.write(sampleReceipt({ id }))));
    expect(storage.inserts).toBe(5);
    expect(await storedIds()).toHaveLength(41);
  });

  test("H21: while the store is down answers go on, and the rows arrive later, once", async () => {
    const writer = open({ patienceMs: 60 });
    storage.fault = "before";
    const waits = ids("a", 30).map(async (id, index) => {
      await Bun.sleep(index);
      const writtenMs = performance.now();
      await writer.write(sampleReceipt({ id }));
      return performance.now() - writtenMs;
    });
    const longest = Math.max(...(await Promise.all(waits)));
    expect(longest).toBeWithin(50, 300);
    expect(writer.queued).toBe(30);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toContain("receipts wait");
    storage.fault = "none";
    await writer.flush();
    expect(await storedIds()).toEqual(ids("a", 30).sort());
    expect(writer.queued).toBe(0);
  });

  test("H21: the writer tries again by itself, at growing distances", async () => {
    const writer = open({ patienceMs: 5 });
    storage.fault = "before";
    await writer.write(sampleReceipt({ id: "late" }));
    await Bun.sleep(400);
    expect(storage.inserts).toBeWithin(3, 6);
    storage.fault = "none";
    for (let waits = 0; writer.queued > 0 && waits < 300; waits += 1) await Bun.sleep(10);
    expect(await storedIds()).toEqual(["late"]);
    await writer.write(sampleReceipt({ id: "next" }));
    expect(await storedIds()).toEqual(["late", "next"]);
  });

  test("H21: rows whose commit was not heard of are sent again and stored once", async () => {
    const writer = open({ patienceMs: 5 });
    storage.fault = "after";
    await Promise.all(ids("a", 5).map((id) => writer.write(sampleReceipt({ id }))));
    expect(writer.queued).toBe(5);
    storage.fault = "none";
    await writer.flush();
    expect(await storedIds()).toEqual(ids("a", 5));
  });

  test("H21, H06: a row that the store refuses for ever is given up aloud, with its amount; the others are stored", async () => {
    const writer = open({ maxRows: 10 });
    storage.refuses = "a3";
    await Promise.all(ids("a", 20).map((id) => writer.write(sampleReceipt({ id, costNanoUsd: 777 }))));
    expect(await storedIds()).toEqual(
      ids("a", 20)
        .filter((id) => id !== "a3")
        .sort(),
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain("The receipt a3 of key key_1 (777 nano-dollars) was not kept");
    const startedMs = performance.now();
    await writer.write(sampleReceipt({ id: "next" }));
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    await writer.flush();
    expect(writer.queued).toBe(0);
  });

  test("H21: where the store breaks down while rows go in one by one, the rest waits for it", async () => {
    const writer = open({ patienceMs: 5 });
    storage.refuses = "a1";
    storage.breaksAt = "a2";
    await Promise.all(ids("a", 4).map((id) => writer.write(sampleReceipt({ id }))));
    for (let waits = 0; writer.queued !== 2 && waits < 300; waits += 1) await Bun.sleep(10);
    expect(await storedIds()).toEqual(["a0"]);
    storage.breaksAt = undefined;
    await writer.flush();
    expect(await storedIds()).toEqual(["a0", "a2", "a3"]);
    expect(problems.filter((problem) => problem.includes("was not kept"))).toHaveLength(1);
  });

  test("H21: a store that never answers keeps no caller waiting", async () => {
    const writer = open({ patienceMs: 30, drainMs: 50 });
    storage.fault = "hang";
    const startedMs = performance.now();
    await writer.write(sampleReceipt());
    expect(performance.now() - startedMs).toBeWithin(25, 400);
    await expect(writer.flush()).rejects.toThrow("1 receipts are not stored");
  });

  test("H20: beyond the bound the oldest rows are kept, and each newer one is refused aloud", async () => {
    const writer = open({ patienceMs: 5, maxQueued: 3 });
    storage.fault = "before";
    await Promise.all(ids("a", 5).map((id) => writer.write(sampleReceipt({ id }))));
    expect(writer.queued).toBe(3);
    const refused = problems.filter((problem) => problem.includes("was not kept"));
    expect(refused.map((problem) => /receipt (\S+)/.exec(problem)?.[1])).toEqual(["a3", "a4"]);
    storage.fault = "none";
    await writer.flush();
    expect(await storedIds()).toEqual(["a0", "a1", "a2"]);
  });

  test("closing stores what waits, and takes no more", async () => {
    const writer = open({ maxWaitMs: 10_000 });
    await writer.write(sampleReceipt({ id: "a" }));
    const waiting = writer.write(sampleReceipt({ id: "b" }));
    await writer.close();
    await waiting;
    expect(await storedIds()).toEqual(["a", "b"]);
    await writer.write(sampleReceipt({ id: "c" }));
    expect(problems.join()).toContain("receipt c");
    expect(await storedIds()).toEqual(["a", "b"]);
  });

  test("closing while the store is down ends in time and names every row it gives up", async () => {
    const writer = open({ patienceMs: 5_000, drainMs: 80 });
    storage.fault = "before";
    const writes = ids("a", 3).map((id) => writer.write(sampleReceipt({ id })));
    await writer.close();
    await Promise.all(writes);
    for (const id of ids("a", 3)) expect(problems.join()).toContain(`receipt ${id} `);
    expect(writer).toMatchObject({ queued: 0, lost: 3 });
  });

  test("H29: more rows than a log holds are given up at its pace, and their amounts are told", async () => {
    let [waiting, most] = [0, 0];
    const writer = open({
      patienceMs: 5_000,
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
    const writes = ids("a", 1_000).map((id) =>
      writer.write(sampleReceipt({ id, costNanoUsd: 7, usage: { input: 3 } })),
    );
    await writer.close();
    await Promise.all(writes);
    const told = problems.filter((problem) => problem.includes("(7 nano-dollars)") && problem.includes('"input":3'));
    expect(told).toHaveLength(1_000);
    expect(most).toBeLessThan(2_000);
    expect(writer.lost).toBe(1_000);
  });

  test("choices 9, H29: while the store fails the writer says why, and when no more rows can be kept", async () => {
    const writer = open({ patienceMs: 1, maxQueued: 2 });
    expect(writer).toMatchObject({ trouble: undefined, full: false });
    storage.fault = "before";
    await Promise.all(ids("a", 2).map((id) => writer.write(sampleReceipt({ id }))));
    while (writer.trouble === undefined) await Bun.sleep(5);
    expect(writer.trouble).toMatch(/^2 receipts wait for the store: /);
    expect(writer.full).toBe(true);
    storage.fault = "none";
    await writer.flush();
    expect(writer).toMatchObject({ trouble: undefined, full: false, lost: 0 });
  });

  test("a long queue leaves the event loop free between inserts", async () => {
    const writer = open({ patienceMs: 5 });
    storage.fault = "before";
    await Promise.all(ids("a", 5_000).map((id) => writer.write(sampleReceipt({ id }))));
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

  test("choices 13: every row that was reported committed outlives a killed process", async () => {
    const url = `sqlite:${join(folder, "killed.db")}`;
    const child = spawn(url, "k", 1_000_000);
    let printed = "";
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) {
      printed += decoder.decode(bytes, { stream: true });
      // Going on to read after the kill takes in what was reported up to the last moment.
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
