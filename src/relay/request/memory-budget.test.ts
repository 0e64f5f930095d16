import { expect, test } from "bun:test";
import { MemoryBudget, MemoryExhaustedError } from "./memory-budget.ts";

const MB = 1024 * 1024;
const key = (name: string) => ({ keyId: `id-${name}`, keyName: name });

const refusal = (attempt: () => void): MemoryExhaustedError => {
  try {
    attempt();
  } catch (error) {
    if (error instanceof MemoryExhaustedError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

test("S17: all calls together hold no more than the budget; what does not fit is rejected and not counted", () => {
  const budget = new MemoryBudget(10 * MB);
  const [one, two, three] = [budget.open(key("a")), budget.open(key("b")), budget.open(key("c"))];
  one.add(4 * MB);
  two.add(4 * MB);
  expect(refusal(() => three.add(3 * MB)).kind).toBe("overloaded");
  expect(budget.held).toBe(8 * MB);
  one.release();
  three.add(3 * MB);
  expect(budget.held).toBe(7 * MB);
  two.release();
  three.release();
  expect(budget.held).toBe(0);
});

test("S17: one key cannot hold more than half of it, and the refusal names the key", () => {
  const budget = new MemoryBudget(10 * MB);
  const first = budget.open(key("greedy"));
  first.add(3 * MB);
  const second = budget.open(key("greedy"));
  second.add(MB);
  const error = refusal(() => second.add(2 * MB));
  expect(error.kind).toBe("rate_limited");
  expect(error.message).toContain('In-flight requests of the key "greedy" use 5 MB of memory,');
  budget.open(key("modest")).add(4 * MB);
  first.release();
  second.add(2 * MB);
  expect(second.bytes).toBe(3 * MB);
});

test("S17: the bounds themselves may be reached: all of the budget, half of it by one key", () => {
  const budget = new MemoryBudget(10 * MB);
  const [one, two] = [budget.open(key("a")), budget.open(key("b"))];
  one.add(5 * MB);
  two.add(5 * MB);
  expect(refusal(() => budget.open(key("c")).add(1)).kind).toBe("overloaded");
  one.release();
  // A call counts against its key from its first megabyte on, and then as a whole.
  const small = budget.open(key("b"));
  small.add(MB - 1);
  expect(refusal(() => small.add(1)).kind).toBe("rate_limited");
  expect(small.bytes).toBe(MB - 1);
});

test("S17: a call that holds less counts less against its key", () => {
  const budget = new MemoryBudget(10 * MB);
  const shrinking = budget.open(key("a"));
  shrinking.add(4 * MB);
  shrinking.release(MB);
  const other = budget.open(key("a"));
  other.add(2 * MB);
  expect(refusal(() => other.add(1)).kind).toBe("rate_limited");
});

test("S17: small calls of one key are limited only by the whole budget", () => {
  const budget = new MemoryBudget(MB);
  for (let call = 0; call < 1024; call++) budget.open(key("a")).add(1024);
  expect(refusal(() => budget.open(key("b")).add(1)).kind).toBe("overloaded");
});

test("releases a part, then the rest, then nothing: as much as was taken", () => {
  const budget = new MemoryBudget(10 * MB);
  const held = budget.open(key("a"));
  held.add(MB / 2);
  held.add(MB);
  held.release(MB);
  expect(budget.held).toBe(MB / 2);
  held.release();
  held.release();
  expect([budget.held, held.bytes]).toEqual([0, 0]);
  // Nothing of it is left with the key either.
  budget.open(key("a")).add(5 * MB);
});

test("decision 0135: garbage is collected each time that a share of the budget was released, by large calls only", () => {
  const collectionsOf = (budgetMb: number, bytes: number, calls: number): number => {
    let collections = 0;
    const budget = new MemoryBudget(budgetMb * MB, () => collections++);
    for (let call = 0; call < calls; call++) {
      const held = budget.open(key("a"));
      held.add(bytes);
      held.release();
      // Again: it holds nothing any more.
      held.release();
    }
    return collections;
  };
  expect(collectionsOf(512, MB, 64)).toBe(4);
  expect(collectionsOf(1024, MB, 64)).toBe(2);
  // Below 12 MB the collections would take too much time.
  expect(collectionsOf(128, MB, 64)).toBe(5);
  expect(collectionsOf(512, 32 * 1024, 2_000)).toBe(0);
});
