import { describe, expect, test } from "bun:test";
import type { Operation, OperationPart } from "../canon/operation.ts";
import { insertOperation } from "../storage/tables/operations.ts";
import { Bench, COST_NANO_USD, KEPT, KEPT_MS, waitingPart } from "./process.sample.ts";

const FAILED: Partial<OperationPart> = { state: "failed", error: { kind: "upstream_failed", message: "no luck" } };
const LEASED = { owner: "me/1", untilMs: Number.MAX_SAFE_INTEGER };

async function end(parts: OperationPart[], owner = LEASED.owner) {
  const bench = await Bench.open();
  const operation = bench.operation({ parts });
  await insertOperation(bench.storage, operation, LEASED);
  await bench.clock.pass(12_000.4);
  const process = bench.process();
  process.reservations.add(operation, COST_NANO_USD);
  const first = await process.settlement.end(operation, owner);
  const receipts = await bench.storage.query("SELECT id, cost_nano_usd, outcome FROM receipts");
  return { bench, process, first, receipts, operation };
}

describe("the end of an operation", () => {
  const made = waitingPart({ state: "done", videos: [KEPT] });
  const blocked = waitingPart({ state: "done", filtered: ["a fox"] });
  const failed = waitingPart(FAILED);

  test("is saved together with its bill", async () => {
    const { bench, receipts, process } = await end([made]);
    const { state, endedAtMs = 0, expiresAtMs = 0, createdAtMs, error } = await bench.read();
    expect({ state, error, tookMs: endedAtMs - createdAtMs, keptMs: expiresAtMs - endedAtMs }).toEqual({
      state: "done",
      error: undefined,
      tookMs: 12_000,
      keptMs: KEPT_MS,
    });
    expect(receipts).toEqual([{ id: "rcp_1", cost_nano_usd: COST_NANO_USD, outcome: "ok" }]);
    expect(process.budget).toEqual({ reserved: 0, spent: COST_NANO_USD });
    expect(process.receipts.map(({ id }) => id)).toEqual(["rcp_1"]);
  });

  const cases: [string, OperationPart[], Operation["state"]][] = [
    ["one video made and one failed", [failed, made], "done"],
    ["one video blocked and one failed", [blocked, failed], "done"],
    ["every video blocked", [blocked], "done"],
    ["every video failed", [failed, waitingPart(FAILED)], "failed"],
  ];
  test.each(cases)("contract 2.2: with %s", async (_, parts, state) => {
    const { bench } = await end(parts);
    const ended = await bench.read();
    expect([ended.state, ended.error]).toEqual([state, state === "failed" ? FAILED.error : undefined]);
  });

  test("H24: belongs to the holder of the lease, and is settled once", async () => {
    const { first, receipts, process, bench } = await end([made], "another/1");
    expect([first, receipts, process.receipts]).toEqual([false, [], []]);
    expect(process.budget).toEqual({ reserved: COST_NANO_USD, spent: 0 });
    expect((await bench.read()).state).toBe("running");
  });

  test("H24: happens once, however often it is tried", async () => {
    const { process, operation, first } = await end([made]);
    expect([first, await process.settlement.end(operation, LEASED.owner)]).toEqual([true, false]);
    expect(process.budget.spent).toBe(COST_NANO_USD);
  });
});

describe("H23: money reserved here for an operation that another process settles", () => {
  async function two() {
    const bench = await Bench.open();
    const [here, elsewhere] = [bench.process("here"), bench.process("elsewhere")];
    const operation = bench.operation({ parts: [waitingPart({ state: "done", videos: [KEPT] })] });
    await insertOperation(bench.storage, operation, { owner: "elsewhere/1", untilMs: bench.nowMs + 1 });
    here.reservations.add(operation, 70_000_000);
    return { bench, here, elsewhere, operation };
  }

  test("stays reserved until then, and is counted and released once", async () => {
    const { bench, here, elsewhere, operation } = await two();
    await here.settlement.followOthers();
    expect(here.budget).toEqual({ reserved: 70_000_000, spent: 0 });
    await elsewhere.settlement.end(operation, "elsewhere/1");
    for (let looks = 0; looks < 3; looks += 1) {
      await bench.clock.pass(5_000);
      await here.settlement.followOthers();
    }
    expect(here.budget).toEqual({ reserved: 0, spent: COST_NANO_USD });
    expect(elsewhere.budget).toEqual({ reserved: 0, spent: COST_NANO_USD });
    // Whoever ended it writes its log line.
    expect([here.receipts.length, elsewhere.receipts.length]).toEqual([0, 1]);
  });

  test("is also released if this process was about to settle it, and the other was faster", async () => {
    const { bench, here, elsewhere, operation } = await two();
    await elsewhere.settlement.end(operation, "elsewhere/1");
    expect(await here.settlement.end(operation, "here/1")).toBe(false);
    await bench.clock.pass(1_000);
    await here.settlement.followOthers();
    expect(here.budget).toEqual({ reserved: 0, spent: COST_NANO_USD });
  });

  test("is checked once a second", async () => {
    const { bench, here, elsewhere, operation } = await two();
    await here.settlement.followOthers();
    await elsewhere.settlement.end(operation, "elsewhere/1");
    await bench.clock.pass(999);
    await here.settlement.followOthers();
    expect(here.budget.spent).toBe(0);
    await bench.clock.pass(1);
    await here.settlement.followOthers();
    expect(here.budget.spent).toBe(COST_NANO_USD);
  });

  test("is not released twice if this process settles it at the same moment", async () => {
    const { bench, elsewhere, operation } = await two();
    elsewhere.reservations.add(operation, 70_000_000);
    const seen: string[][] = [];
    const { transaction } = bench.storage;
    bench.storage.transaction = async (work, limitMs) => {
      const result = await transaction.call(bench.storage, work, limitMs);
      // The row is written, and this process does not know it yet.
      await elsewhere.settlement.followOthers();
      seen.push(elsewhere.reservations.held);
      return result as never;
    };
    await elsewhere.settlement.end(operation, "elsewhere/1");
    expect(seen).toEqual([["operation_1"]]);
    expect(elsewhere.budget).toEqual({ reserved: 0, spent: COST_NANO_USD });
  });
});
