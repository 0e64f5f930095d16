import { describe, expect, test } from "bun:test";
import type { EndUser, Finding, UsageAmounts } from "../api/types.ts";
import { providerWords } from "../parts/state-lines.tsx";
import { topOf } from "../parts/top-table.tsx";
import { sumsAsCsv } from "../parts/usage-exports.tsx";
import { endUserAddress, limitsAt, limitWords, ownersOf, switchOf } from "./end-users.ts";
import { tellFindings } from "./findings.ts";
import { periodBefore } from "./range.ts";
import { partOf, reasonOf, refusalStack } from "./refusals.ts";
import { type Dimension, deeperThan, rankedOf, reportOf } from "./usage.ts";
import { callsOf, insideOf } from "./usage-links.ts";
import { startOfDay } from "./zone.ts";

const NOW = Date.UTC(2026, 10, 18, 15);
const HOUR_MS = 3_600_000;
const NO_USAGE = { input: null, output: null, cache_read: null, tools: null } as unknown as UsageAmounts;
const row = (groups: string[], calls: number, cost: number) => ({
  group: groups[0] ?? "",
  groups,
  calls,
  failures: 0,
  usage: NO_USAGE,
  cost_nano_usd: cost,
  cost_usd: cost / 1e9,
  previous: null,
});

describe("console-design: findings as sentences", () => {
  const tell = (finding: Finding) => tellFindings([finding], NOW, (id) => `name of ${id}`)[0];

  test("a provider is named with its models, its error and since when", () => {
    const since = new Date(NOW - 60_000).toISOString();
    const error = { kind: "upstream_credentials", status: 401, text: "Incorrect API key", at: since };
    const found = tell({
      kind: "provider_down",
      severity: "bad",
      since,
      provider: "xai/<b>",
      credential: null,
      models: ["grok-4"],
      until: null,
      error,
    } as Finding);
    expect(found).toEqual({
      severity: "bad",
      about: "Provider",
      text: "xai/<b> is out of use for 1 model. Status 401: Incorrect API key.",
      sinceMs: NOW - 60_000,
      address: "/providers/xai%2F%3Cb%3E",
      link: "The provider",
    });
  });

  test("a budget says whether it is used up, will be, or is only near", () => {
    const budget = (more: object) =>
      tell({
        ...{
          kind: "budget",
          severity: "warn",
          since: null,
          level: "key",
          id: "key_1",
          name: "search",
          window: "month",
        },
        ...{ spent_nano_usd: 92e9, limit_nano_usd: 100e9, used_percent: 92, forecast_nano_usd: null },
        ...{ exceeds_at: null, ends_at: null, ...more },
      } as Finding);
    expect(budget({})?.text).toBe("The monthly budget of the key search is 92% used: $92.00 of $100.00.");
    expect(budget({ exceeds_at: new Date(NOW).toISOString() })?.text).toMatch(
      /^The monthly budget of the key search will be used up on .* at this rate\. 92% is used/,
    );
    expect(budget({ used_percent: 100, spent_nano_usd: 100e9 })?.text).toContain("is used up");
    expect(budget({})?.address).toBe("/keys/key_1");
    expect(budget({ level: "gateway", id: "gateway", name: "gateway" })?.text).toContain("budget of the gateway is");
  });

  test("refusals name the reason and the key, and lead to them", () => {
    const found = tell({
      kind: "refusals",
      severity: "warn",
      since: new Date(NOW).toISOString(),
      requests: 1_200,
      reason: "rate_limited",
      reason_requests: 1_100,
      key: "key_1",
      key_requests: 900,
    });
    expect(found?.text).toBe(
      "1,200 requests refused within the last hour: 1,100 as rate limited, 900 with the key name of key_1.",
    );
    expect(found?.address).toBe("/refused?range=1h&reason=rate_limited&key=key_1");
  });

  test("long texts of providers are cut", () => {
    const found = tell({ kind: "degraded", severity: "warn", since: null, reason: "x".repeat(5_000) });
    expect(found?.text.length).toBeLessThan(200);
  });

  test("providers that were not called are not said to answer", () => {
    expect(providerWords([{ state: "closed" }, { state: "closed" }])).toBe("All 2 providers answer");
    expect(providerWords([{ state: "closed" }, { state: null }, { state: "open" }])).toBe(
      "1 of 3 providers answers, 1 not called since the start",
    );
    expect(providerWords([{ state: null }])).toBe("1 provider, none called since the start");
    expect(providerWords([])).toBe("No provider is set up");
  });
});

describe("console-design: order, bars and labels are of one figure", () => {
  test("tables of the overview are by cost, or by calls if nothing costs anything", () => {
    const group = { name: "a", calls: 3, failures: 0, cost_nano_usd: 0 };
    expect(topOf([group]).by).toBe("calls");
    expect(topOf([group, { ...group, cost_nano_usd: 1 }]).by).toBe("cost");
  });

  test("ranked groups are shares of the total, also of what the server left out", () => {
    const report = reportOf([row(["a"], 1, 20), row(["b"], 5, 30), row(["c"], 1, 0)], [row([], 9, 100)], 100);
    expect(rankedOf(report, "cost").map(({ row: { groups }, share }) => [groups[0], share])).toEqual([
      ["b", 0.3],
      ["a", 0.2],
    ]);
    expect(rankedOf(report, "failures")).toEqual([]);
  });

  test("the longest bar is full, however small its share of the total is", () => {
    const many = Array.from({ length: 100 }, (_, at) => row([String(at)], 1, 100 - at / 2));
    const [first, second] = rankedOf(reportOf(many, many, 100), "cost");
    expect(first).toMatchObject({ length: 1 });
    expect(first?.share).toBeLessThan(0.02);
    expect(second?.length).toBeCloseTo(0.995);
  });
});

describe("console-design: every figure leads to its calls", () => {
  const view = (by: Dimension[], query = "") => ({
    by,
    zone: "Europe/Berlin",
    filter: { outcome: "failed" },
    query: new URLSearchParams(query),
  });
  const sum = (...groups: string[]) => ({ groups, values: {} as never });
  const queryOf = (address: string | undefined) => Object.fromEntries(new URL(address ?? "", "http://x").searchParams);

  test("of a group, over the range of the page and with its filter", () => {
    const address = callsOf(view(["key", "model"], "range=7d&zone=Europe/Berlin"), sum("key_1", "sim/fast"));
    expect(queryOf(address)).toEqual({
      q: "model:sim/fast key:key_1 outcome:failed",
      range: "7d",
      zone: "Europe/Berlin",
    });
    expect(queryOf(callsOf(view(["key"]), sum("key_1")))["range"]).toBe("30d");
  });

  test("of a day in the zone of the page, also on the days of 23 and 25 hours", () => {
    const hours = (day: string): number => {
      const { from = "", to = "" } = queryOf(callsOf(view(["day"]), sum(day)));
      return (Date.parse(to) - Date.parse(from)) / HOUR_MS;
    };
    expect(["2026-03-29", "2026-06-01", "2026-10-25"].map(hours)).toEqual([23, 24, 25]);
  });

  test("not of groups without a name, which no filter expresses", () => {
    expect(callsOf(view(["tag"]), sum(""))).toBeUndefined();
  });

  test("a bar leads to what its group consists of", () => {
    expect(queryOf(insideOf(view(["key"], "range=7d&metric=calls"), sum("key_1")))).toEqual({
      q: "key:key_1 outcome:failed",
      range: "7d",
      by: "model",
      metric: "calls",
    });
    expect(deeperThan(["key", "model"])).toBe("provider");
  });

  test("the period before has the same length", () => {
    expect(periodBefore({ name: "1h", fromMs: 5_000, toMs: undefined }, 8_000)).toEqual({
      name: undefined,
      fromMs: 2_000,
      toMs: 5_000,
    });
  });

  test("a day begins with the clocks of its zone", () => {
    expect(new Date(startOfDay(NOW, "Asia/Tokyo")).toISOString()).toBe("2026-11-18T15:00:00.000Z");
    expect(new Date(startOfDay(NOW - 1, "Asia/Tokyo")).toISOString()).toBe("2026-11-17T15:00:00.000Z");
  });

  test("exports have the names of keys beside their IDs, and no formulas", () => {
    const text = sumsAsCsv(["key"], [row(["key_1"], 1, 5)], () => "=cmd()");
    expect(text).toStartWith("key,key_name,calls,");
    expect(text).toContain("\r\nkey_1,'=cmd(),1,0,5,");
  });
});

describe("console-design: refused requests over time", () => {
  test("minutes, hours or days, by the length of the range", () => {
    const by = (hours: number) => partOf({ name: undefined, fromMs: NOW - hours * HOUR_MS, toMs: NOW }, NOW).by;
    expect([by(1), by(24), by(24 * 7), by(24 * 30)]).toEqual(["minute", "hour", "hour", "day"]);
  });

  test("every request is in one series, and parts without any are zero", () => {
    const at = (hour: number) => new Date(Date.UTC(2026, 10, 18, hour)).toISOString();
    const rows = ["a", "b", "c", "d", "e"].map((reason, index) => ({
      groups: [at(index % 2), reason],
      requests: 10 - index,
    }));
    const range = { fromMs: Date.UTC(2026, 10, 18, 0, 30), toMs: Date.UTC(2026, 10, 18, 3) };
    const { times, series } = refusalStack(rows, range, HOUR_MS);
    expect(times).toHaveLength(3);
    expect(series.map(({ name }) => name)).toEqual(["a", "b", "c", "other"]);
    expect(series.flatMap(({ values }) => values).reduce((all, one) => all + one, 0)).toBe(40);
    expect(series.every(({ values }) => values[2] === 0)).toBe(true);
  });

  test("every reason that a client can get has advice and the status of the gateway", async () => {
    const { ERROR_TABLE } = await import("../../src/canon/error.ts");
    for (const [kind, { status }] of Object.entries(ERROR_TABLE))
      expect([kind, reasonOf(kind)?.status]).toEqual([kind, status]);
  });
});

describe("console-design: limits of one end user", () => {
  const spent = (total: number) => ({ day: 0, week: 0, month: 0, quarter: 0, total });
  const used = (project: string, key: string, total: number) => ({
    ...{ project, key, spent_nano_usd: spent(total), requests: 0, tokens: 0, last_used_at: "" },
  });
  const item: EndUser = {
    id: "a/b",
    spent_nano_usd: spent(3),
    requests: 0,
    tokens: 0,
    last_used_at: null,
    keys: [used("red", "key_1", 1), used("blue", "key_2", 2)],
    limits: [{ project: "red", key: "key_1", limits: { budget_usd_per_day: 5 }, changed_at: "" }],
  };

  test("its projects come first, those with most use before others", () => {
    expect(ownersOf(item)).toEqual([
      { project: "blue" },
      { project: "red" },
      { project: "blue", key: "key_2" },
      { project: "red", key: "key_1" },
    ]);
    expect(limitsAt(item, { project: "red", key: "key_1" })).toEqual({ budget_usd_per_day: 5 });
    expect(limitsAt(item, { project: "red" })).toEqual({});
    expect(endUserAddress(item.id)).toBe("/end-users/a%2Fb");
  });

  test("says where limits of end users are off, and what cannot be changed here", () => {
    const keys = [{ id: "key_1", from: "file" as const, end_users: null }];
    const projects = [{ id: "red", from: "storage" as const, end_users: { limits: {}, required: false } }];
    expect(switchOf({ project: "red" }, keys, projects)).toMatchObject({ isOn: true, address: "/api/projects/red" });
    expect(switchOf({ project: "red", key: "key_1" }, keys, projects)).toMatchObject({ isOn: false, isInFile: true });
  });

  test("are written as words", () => {
    expect(limitWords({ budget_usd_per_day: 5, requests_per_minute: 20, budget_usd_total: null })).toBe(
      "$5 a day, 20 requests per minute, no limit on total budget",
    );
  });
});
