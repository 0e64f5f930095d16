import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { turnOrder } from "./turn-order.ts";

const firsts = (weights: number[], turns: number): string =>
  Array.from({ length: turns }, (_, turn) => "abcdef"[turnOrder(weights, turn)[0] ?? -1]).join("");

describe("weighted round robin", () => {
  test("equals alternate at any shared weight", () => {
    expect(firsts([1, 1, 1], 7)).toBe("abcabca");
    expect(firsts([0.3, 0.3], 5)).toBe("ababa");
  });

  test("turns are spread: no run of the heaviest that could be broken", () => {
    expect(firsts([3, 1], 8)).toBe("aaabaaab");
    expect(firsts([5, 1, 1], 14)).toBe("aaabaacaaabaac");
    expect(firsts([1, 5], 12)).toBe("babbbbbabbbb");
  });

  test("the others follow in the order of their next turns", () => {
    expect(turnOrder([1, 1, 1], 1)).toEqual([1, 2, 0]);
    expect(turnOrder([5, 1, 1], 3)).toEqual([1, 0, 2]);
    expect(turnOrder([1, 1_000_000], 0)).toEqual([1, 0]);
  });

  test("an index without weight has no turn, and is not left out", () => {
    expect(turnOrder([0, 2, 0, 1], 0)).toEqual([1, 3, 0, 2]);
    expect(turnOrder([0, 0], 5)).toEqual([0, 1]);
    expect(turnOrder([], 5)).toEqual([]);
  });

  test("over any time each has its share to within a turn, however late it is", () => {
    const weight = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(fc.array(weight, { minLength: 1, maxLength: 6 }), fc.nat(1_000_000), (weights, from) => {
        const total = weights.reduce((sum, one) => sum + one, 0);
        const counts = weights.map(() => 0);
        // A whole cycle from anywhere has exactly the weights.
        for (let turn = from; turn < from + total; turn++) {
          const first = turnOrder(weights, turn)[0] ?? 0;
          counts[first] = (counts[first] ?? 0) + 1;
        }
        expect(counts).toEqual(weights);
      }),
      // Two of these are due together again and again.
      { numRuns: 200, examples: [[[8, 2, 4, 18, 6], 7]] },
    );
  });
});
