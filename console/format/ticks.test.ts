import { describe, expect, test } from "bun:test";
import { ticks } from "./ticks.ts";

const CENT = 10_000_000;

describe("the labels of an axis have one unit and one number of decimals", () => {
  test.each([
    ["money", [0, 50 * CENT, 100 * CENT], 50 * CENT, ["0", "$0.50", "$1.00"]],
    ["money", [0, 500 * CENT, 1_000 * CENT], 500 * CENT, ["0", "$5", "$10"]],
    ["money", [0, 25_000, 50_000], 25_000, ["0", "$0.000025", "$0.000050"]],
    ["time", [0, 200, 400], 200, ["0", "200 ms", "400 ms"]],
    ["time", [0, 500, 1_000, 1_500], 500, ["0", "0.5 s", "1.0 s", "1.5 s"]],
    ["time", [0, 5_000, 10_000], 5_000, ["0", "5 s", "10 s"]],
    ["time", [0, 120_000, 240_000], 120_000, ["0", "2 min", "4 min"]],
    ["count", [0, 0.5, 1], 0.5, ["0", "", "1"]],
    ["count", [0, 500_000, 1_000_000], 500_000, ["0", "500K", "1M"]],
  ] as const)("%p at %p", (unit, values, step, labels) => expect(ticks(unit, values, step)).toEqual([...labels]));
});
