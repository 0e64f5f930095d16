import { expect, test } from "bun:test";
import { BUDGET_OF_EFFORT, EFFORTS, effortOfBudget, nearestEffort } from "./reasoning.ts";

test("mapping 1: effort → budget → effort is the identity", () => {
  for (const [effort, budget] of Object.entries(BUDGET_OF_EFFORT)) expect(effortOfBudget(budget)).toBe(effort as never);
});

test("mapping 1: a budget becomes the highest effort that does not exceed it", () => {
  expect([1, 1024, 2047, 2048, 9000, 100_000].map(effortOfBudget)).toEqual([
    "minimal",
    "minimal",
    "minimal",
    "low",
    "medium",
    "max",
  ]);
});

test("an effort the model does not support becomes the next lower one, or else the next higher one", () => {
  expect(nearestEffort("xhigh", ["low", "medium", "high"])).toBe("high");
  expect(nearestEffort("minimal", ["low", "medium", "high"])).toBe("low");
  expect(nearestEffort("off", ["low", "high"])).toBe("low");
  expect(nearestEffort("off", ["off", "low"])).toBe("off");
  expect(nearestEffort("medium", ["off"])).toBeUndefined();
  for (const effort of EFFORTS) expect(nearestEffort(effort, EFFORTS)).toBe(effort);
});
