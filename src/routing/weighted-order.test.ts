import { describe, expect, test } from "bun:test";
import { weightedOrder } from "./weighted-order.ts";

describe("an order by weight and chance", () => {
  test("one number decides which is first, each by its share", () => {
    expect(weightedOrder([1, 3], 0)[0]).toBe(0);
    expect(weightedOrder([1, 3], 0.249)[0]).toBe(0);
    expect(weightedOrder([1, 3], 0.25)[0]).toBe(1);
    expect(weightedOrder([1, 3], 0.999)[0]).toBe(1);
  });

  test("the rest of the number decides about the others", () => {
    const orders = [0, 0.2, 0.4, 0.5, 0.7, 0.9].map((draw) => weightedOrder([1, 1, 1], draw).join(""));
    expect(orders).toEqual(["012", "021", "102", "120", "201", "210"]);
  });

  test("over many numbers each order has its share", () => {
    const counts = new Map<string, number>();
    for (let step = 0; step < 6000; step++) {
      const order = weightedOrder([3, 2, 1], (step + 0.5) / 6000).join("");
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    // First 0 in half of the cases; after it 1 in two thirds of them.
    expect(Object.fromEntries(counts)).toEqual({
      "012": 2000,
      "021": 1000,
      "102": 1500,
      "120": 500,
      "201": 600,
      "210": 400,
    });
  });

  test("indexes without weight are last, in their order", () => {
    expect(weightedOrder([0, 1, 0, 1], 0.9)).toEqual([3, 1, 0, 2]);
    expect(weightedOrder([0, 0], 0.9)).toEqual([0, 1]);
    expect(weightedOrder([], 0.5)).toEqual([]);
  });

  test("a number that rounding has brought to the end is the last one's", () => {
    expect(weightedOrder([1, 1, 0], 1)).toEqual([1, 0, 2]);
  });
});
