import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "yaml";
import { yamlOf } from "../format/yaml.ts";
import { changesOf } from "./changes.ts";
import { rateWords, readLimits } from "./limits.ts";
import { readRange } from "./range.ts";

describe("configuration shown as YAML", () => {
  test("parses back to the same values", () => {
    const values = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(values, (value) => {
        expect(parse(yamlOf(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("limits and budgets", () => {
  test("an empty field removes a limit that was set, and omits one that was not", () => {
    const form = new FormData();
    form.set("requests_per_minute", "60");
    form.set("concurrent", " ");
    expect(readLimits(form, { concurrent: 3 })).toEqual({ requests_per_minute: 60, concurrent: null });
  });

  test("formats rate limits", () =>
    expect(rateWords({ requests_per_minute: 6_000, concurrent: 8 })).toBe("6,000 requests/min, 8 concurrent"));
});

describe("changes in the audit log", () => {
  test("lists the differing fields", () => {
    expect(changesOf({ name: "a", limits: { x: 1 } }, { name: "a", limits: { x: 2 } })).toEqual([
      { name: "limits", before: '{"x":1}', after: '{"x":2}' },
    ]);
    expect(changesOf(null, { name: "<b>" })).toEqual([{ name: "name", before: undefined, after: "<b>" }]);
  });
});

describe("ranges in the address", () => {
  const read = (text: string) => readRange(new URLSearchParams(text), 1_000_000_000);
  test("are read by name, by timestamps, or as the default", () => {
    expect(read("range=1h")).toMatchObject({ name: "1h", fromMs: 1_000_000_000 - 3_600_000 });
    expect(read("from=1970-01-01T00:00:00Z&to=1970-01-02T00:00:00Z")).toEqual({
      name: undefined,
      fromMs: 0,
      toMs: 86_400_000,
    });
    expect(read("range=nonsense").name).toBe("24h");
  });

  test("yesterday and this month are those of the page's zone, also around a change of clocks", () => {
    const span = (query: string, now: string) => {
      const { name, calendar, fromMs, toMs } = readRange(new URLSearchParams(query), Date.parse(now));
      const shown = (ms: number | undefined) => ms && new Date(ms).toISOString().slice(0, 16);
      return [name, calendar, shown(fromMs), shown(toMs)];
    };
    const yesterday = (zone: string, now: string) => span(`range=yesterday&zone=${zone}`, now).slice(2);
    expect(span("range=yesterday&zone=UTC", "2026-11-19T00:30:00Z")).toEqual([
      undefined,
      "yesterday",
      "2026-11-18T00:00",
      "2026-11-19T00:00",
    ]);
    expect(yesterday("Asia/Tokyo", "2026-11-19T15:30:00Z")).toEqual(["2026-11-18T15:00", "2026-11-19T15:00"]);
    expect(yesterday("Europe/Berlin", "2026-10-26T08:00:00Z")).toEqual(["2026-10-24T22:00", "2026-10-25T23:00"]);
    const month = span("range=month&zone=America/New_York", "2026-11-19T12:00:00Z");
    expect(month).toEqual([undefined, "month", "2026-11-01T04:00", undefined]);
  });
});
