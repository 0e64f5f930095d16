import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CallFilter,
  NAMES,
  notNarrowedBy,
  readFilter,
  receiptQuery,
  unsummed,
  usageQuery,
  writeFilter,
} from "./filter.ts";

describe("console-notes 4: one filter grammar", () => {
  test("reads names, comparisons, quotes and words", () => {
    expect(
      readFilter('tag:feature=search model:sim/fast outcome:failed cost>0.01 ms>=2000 key:"my key" rcp_0a'),
    ).toEqual({
      tag: "feature=search",
      model: "sim/fast",
      outcome: "failed",
      cost: "0.01",
      ms: "2000",
      key: "my key",
      text: "rcp_0a",
    });
  });

  test("treats everything that is not a filter as text and drops nothing", () => {
    expect(readFilter("colour:red cost>much http://x")).toEqual({ text: "colour:red cost>much http://x" });
  });

  test("every written filter reads back unchanged", () => {
    const value = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() === text && text !== "");
    const filter = fc.record(Object.fromEntries(NAMES.map((name) => [name, value])), { requiredKeys: [] });
    fc.assert(
      fc.property(filter, (given) => {
        expect(readFilter(writeFilter(given as CallFilter))).toEqual(given as CallFilter);
      }),
    );
  });

  test("uses the parameter names of the Admin API", () => {
    expect(receiptQuery({ model: "m", cost: "1", ms: "5" })).toEqual({ model: "m", min_cost: "1", min_ms: "5" });
    expect(usageQuery({ model: "m", outcome: "failed", dialect: "chat", text: "x" })).toEqual({
      model: "m",
      provider: undefined,
      key: undefined,
      project: undefined,
      tag: undefined,
      outcome: "failed",
      dialect: "chat",
    });
  });

  test("names the filters that totals do not support", () => {
    expect(unsummed({ model: "m", outcome: "failed", lane: "native", cost: "1", text: "x" })).toEqual([
      "lane",
      "cost",
      "text",
    ]);
    expect([notNarrowedBy([]), notNarrowedBy(["lane", "cost"])]).toEqual(["", "not filtered by lane, cost"]);
  });
});
