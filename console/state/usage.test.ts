import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { UsageAmounts, UsageRow } from "../api/types.ts";
import { csvCell, csvOf } from "../format/csv.ts";
import { reportOf, stackOf } from "./usage.ts";
import { shownZone } from "./zone.ts";

const NO_USAGE = { input: null, output: null, cache_read: null } as unknown as UsageAmounts;

const row = (groups: string[], calls: number, cost: number, failures = 0): UsageRow => ({
  group: groups[0] ?? "",
  groups,
  calls,
  failures,
  usage: NO_USAGE,
  cost_nano_usd: cost,
  cost_usd: cost / 1e9,
});

describe("must show: totals agree", () => {
  test("rows and the remainder add up to the total, however many rows are shown", () => {
    const groups = fc.array(fc.record({ calls: fc.nat(1_000), cost: fc.nat(1_000_000) }), { maxLength: 40 });
    fc.assert(
      fc.property(groups, fc.nat(40), (given, most) => {
        const rows = given.map(({ calls, cost }, at) => row([String(at)], calls, cost));
        const { rows: shown, other, total } = reportOf(rows, rows, most);
        const sum = shown.reduce((all, { values }) => all + values.cost, 0) + (other?.cost ?? 0);
        expect(sum).toBe(total.cost);
        expect(total.cost).toBe(given.reduce((all, { cost }) => all + cost, 0));
      }),
    );
  });

  test("0061: groups by tag overlap, so there is no remainder and the total counts every call once", () => {
    const { other, total } = reportOf([row(["a"], 4, 40), row(["b"], 3, 30)], [row(["ok"], 5, 50)], 100, true);
    expect([other, total.calls, total.cost]).toEqual([undefined, 5, 50]);
  });

  test("groups that the server left out are in the remainder", () => {
    const { other, total } = reportOf([row(["a"], 2, 20)], [row(["ok"], 5, 50)], 100);
    expect([other?.calls, other?.cost, total.calls]).toEqual([3, 30, 5]);
  });

  test("a stack over time contains every row once", () => {
    const rows = [
      row(["2026-11-01", "a"], 1, 5),
      row(["2026-11-01", "b"], 1, 4),
      row(["2026-11-02", "c"], 1, 3),
      row(["2026-11-02", "d"], 1, 2),
      row(["2026-11-02", "e"], 1, 1),
    ];
    const { times, series } = stackOf(rows, ["day", "model"], "cost");
    expect(times.length).toBe(2);
    expect(series).toEqual([
      { name: "a", values: [5, 0] },
      { name: "b", values: [4, 0] },
      { name: "c", values: [0, 3] },
      { name: "Other", values: [0, 3] },
    ]);
    expect(stackOf(rows, ["day", "model"], "cost", 5).series.map(({ name }) => name)).toEqual([
      "a",
      "b",
      "c",
      "d",
      "e",
    ]);
  });

  test("days are drawn where they begin in the zone of the page", () => {
    const own = shownZone.value;
    shownZone.value = "Asia/Tokyo";
    const { times } = stackOf([row(["2026-11-18"], 1, 1)], ["day"], "cost");
    shownZone.value = own;
    expect(times.map((ms) => new Date(ms).toISOString())).toEqual(["2026-11-17T15:00:00.000Z"]);
  });

  test("a single group that is left is shown by its name, because it needs no more room than the rest", () => {
    const rows = ["a", "b", "c", "d"].map((model, at) => row(["2026-11-01", model], 1, 9 - at));
    expect(stackOf(rows, ["day", "model"], "cost").series.map(({ name }) => name)).toEqual(["a", "b", "c", "d"]);
  });
});

describe("S14: cells of a CSV file", () => {
  test.each([
    ["=1+1", "'=1+1"],
    ["+49", "'+49"],
    ["-2", "'-2"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    ['a "b", c', '"a ""b"", c"'],
    ["plain", "plain"],
    [-5, "-5"],
  ])("%p becomes %p", (given, cell) => expect(csvCell(given)).toBe(cell));

  test("lines end as RFC 4180 requires", () => expect(csvOf([["a", 1]])).toBe("a,1\r\n"));
});
