import { expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { Level } from "../access/level.ts";
import { BudgetWatch } from "./watch-budgets.ts";

const RED: Level = { level: "project", id: "red", name: "Red", limits: { budgetUsdPerDay: 10, budgetUsdTotal: 0 } };

test("budgets come from the ledger, for all instances together; a budget of zero is used up", async () => {
  const clock = new VirtualClock();
  let spent = 5e9;
  const watch = new BudgetWatch({
    clock,
    levels: () => [RED, { ...RED, level: "key", id: "k", limits: { concurrent: 3 } }],
    spent: async () => (level, id, window) => (level === "project" && id === "red" && window === "day" ? spent : 0),
    onProblem: () => undefined,
  });
  const stop = watch.start();
  await clock.pass(1);
  expect(watch.uses.map(({ id, window, ratio }) => [id, window, ratio])).toEqual([
    ["red", "day", 0.5],
    ["red", "total", 1],
  ]);
  spent = 12e9;
  await clock.pass(30_000);
  expect(watch.uses[0]?.ratio).toBe(1.2);
  stop();
});

test("without budgets the ledger is not read; if it cannot be read, the last totals stay", async () => {
  const clock = new VirtualClock();
  let reads = 0;
  let levels: Level[] = [];
  const problems: unknown[] = [];
  const watch = new BudgetWatch({
    clock,
    levels: () => levels,
    spent: async () => {
      if (++reads > 1) throw new Error("away");
      return () => 1e9;
    },
    onProblem: (error) => problems.push(error),
  });
  await watch.look();
  expect(reads).toBe(0);
  levels = [RED];
  await watch.look();
  await watch.look();
  expect([reads, problems.length, watch.uses[0]?.ratio]).toEqual([2, 1, 0.1]);
});
