import { expect, test } from "bun:test";
import { TimerHeap } from "./timer-heap.ts";

/** Everything that is due, in order. */
function drain(heap: TimerHeap, until: number): number[] {
  const ran: number[] = [];
  for (let first = heap.first(); first && first.dueMs <= until; first = heap.first()) {
    ran.push(first.dueMs);
    heap.take(first);
  }
  return ran;
}

test("timers come in the order of their moments, and of being set where those are the same", () => {
  const heap = new TimerHeap();
  const ran: string[] = [];
  for (const [dueMs, name] of [
    [5, "a"],
    [3, "b"],
    [5, "c"],
    [1, "d"],
    [3, "e"],
  ] as const)
    heap.add(dueMs, undefined, () => ran.push(name));
  for (let first = heap.first(); first; first = heap.first()) {
    heap.take(first);
    first.run();
  }
  expect(ran).toEqual(["d", "b", "e", "a", "c"]);
});

test("cancelled timers are not counted and do not come, however many there are", () => {
  const heap = new TimerHeap();
  const timers = Array.from({ length: 1000 }, (_, index) => heap.add((index * 7919) % 1000, undefined, () => {}));
  for (const timer of timers.slice(100)) heap.cancel(timer);
  heap.cancel(timers[500] as (typeof timers)[number]);
  expect(heap.size).toBe(100);
  const due = timers.slice(0, 100).map(({ dueMs }) => dueMs);
  expect(drain(heap, 1000)).toEqual(due.sort((one, other) => one - other));
});

test("one that repeats is set anew until it is cancelled", () => {
  const heap = new TimerHeap();
  const timer = heap.add(10, 10, () => {});
  expect(drain(heap, 35)).toEqual([10, 20, 30]);
  heap.cancel(timer);
  expect([drain(heap, 100), heap.size]).toEqual([[], 0]);
});
