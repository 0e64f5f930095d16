import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import type { Receipt } from "../canon/receipt.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import type { Storage } from "../storage/storage.ts";
import { checkRollUps } from "./check-roll-ups.ts";
import type { Journal } from "./journal.ts";
import { LedgerWriter } from "./writer.ts";

const intent = (id: string): Receipt => sampleReceipt({ id, outcome: "pending" });

describe("H21: a call whose intent is kept", () => {
  let clock: VirtualClock;
  let storage: Storage;
  /** How statements behave: normally, with an error, or without a response. */
  let store: "works" | "fails" | "hangs" | "refuses";
  let inserts: number;
  let journal: Journal & { ids: string[]; fails: boolean };
  beforeEach(async () => {
    clock = new VirtualClock();
    store = "works";
    inserts = 0;
    const opened = await openMemoryStorage(system.clock);
    storage = Object.assign(Object.create(opened) as Storage, {
      query: opened.query.bind(opened),
      close: opened.close.bind(opened),
      runForEach: async (...call: Parameters<Storage["runForEach"]>) => {
        inserts += 1;
        if (store === "fails") throw new Error("store is down");
        if (store === "hangs") await new Promise<void>(() => {});
        // As the runtime's binding reports a value that it does not accept.
        if (store === "refuses")
          throw new TypeError("Binding expected string, TypedArray, boolean, number, bigint or null");
        await opened.runForEach(...call);
      },
    });
    journal = {
      ids: [],
      fails: false,
      full: false,
      append: async (receipts) => {
        await Promise.resolve();
        if (journal.fails) throw new Error("disk is full");
        journal.ids.push(...receipts.map(({ id }) => id));
      },
      clear: async () => {},
      close: async () => {},
      shortage: () => (journal.fails ? "the disk of its journal is full" : undefined),
    };
  });
  afterEach(() => storage.close());

  const open = (kept: Journal | undefined = journal) =>
    new LedgerWriter({ storage, clock, journal: kept, onProblem: () => {} });
  const intents = async () => (await storage.query("SELECT id FROM intents ORDER BY id")).map(({ id }) => String(id));

  test("continues when the row is stored, and concurrent calls wait for one write", async () => {
    const writer = open();
    await clock.until(writer.write(sampleReceipt({ id: "earlier" })));
    inserts = 0;
    const kept = await clock.until(Promise.all(["a", "b", "c"].map((id) => writer.writeIntent(intent(id)))));
    expect(kept).toEqual([true, true, true]);
    expect(inserts).toBe(1);
    expect(await intents()).toEqual(["a", "b", "c"]);
  });

  test("continues when its row is in the journal, while the store fails or does not answer", async () => {
    for (const trouble of ["fails", "hangs"] as const) {
      store = trouble;
      const writer = open();
      expect(await clock.until(writer.writeIntent(intent(trouble)))).toBe(true);
      expect(journal.ids).toContain(trouble);
    }
  });

  test("is refused if neither has it: no journal, a full disk, or a full journal or queue", async () => {
    store = "hangs";
    expect(await clock.until(new LedgerWriter({ storage, clock, onProblem: () => {} }).writeIntent(intent("a")))).toBe(
      false,
    );
    journal.fails = true;
    expect(await clock.until(open().writeIntent(intent("b")))).toBe(false);
    expect(await clock.until(open({ ...journal, full: true }).writeIntent(intent("c")))).toBe(false);
  });

  test("and its receipt are stored once each by a store that fails every third statement, before or after executing it", async () => {
    const opened = await openMemoryStorage(system.clock);
    let statements = 0;
    const liar = Object.assign(Object.create(opened) as Storage, {
      query: opened.query.bind(opened),
      runForEach: async (...call: Parameters<Storage["runForEach"]>) => {
        statements += 1;
        if (statements % 6 === 0) throw new Error("store is down");
        await opened.runForEach(...call);
        if (statements % 3 === 0) throw new Error("connection lost");
      },
    });
    const writer = new LedgerWriter({ storage: liar, clock, journal, onProblem: () => {} });
    const all = Array.from({ length: 60 }, (_, index) => `call-${String(index).padStart(2, "0")}`);
    await clock.until(
      Promise.all(
        all.map(async (id, index) => {
          await clock.sleep(index * 7);
          expect(await writer.writeIntent(intent(id))).toBe(true);
          await clock.sleep(index % 11);
          // Every tenth is not settled.
          if (index % 10 > 0) await writer.write(sampleReceipt({ id }));
        }),
      ),
    );
    await clock.until(writer.close());
    const idsIn = async (table: string) =>
      (await opened.query(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => String(id));
    expect(await idsIn("intents")).toEqual(all);
    expect(await idsIn("receipts")).toEqual(all.filter((_, index) => index % 10 > 0));
    expect((await checkRollUps(opened)).differences).toEqual([]);
    expect(writer.lost).toBe(0);
    await opened.close();
  });

  test("is refused if the store rejects its row permanently, and no receipt counts as lost", async () => {
    store = "refuses";
    const writer = open();
    expect(await clock.until(writer.writeIntent(intent("a")))).toBe(false);
    expect(writer.lost).toBe(0);
  });
});
