import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readViews } from "../state/saved-views.ts";
import { wallClock, zoned } from "../state/zone.ts";
import { lonely } from "./chart.tsx";
import { lastingAddress } from "./copy-link.tsx";
import { readSort, sortRows } from "./data-table.tsx";

interface Row {
  name: string;
  cost: number | null;
}

const columns = [
  { id: "name", title: "Name", cell: ({ name }: Row) => name, sortBy: ({ name }: Row) => name },
  { id: "cost", title: "Cost", cell: () => "", sortBy: ({ cost }: Row) => cost },
];

describe("console-notes 4: tables", () => {
  const rows: Row[] = [
    { name: "b", cost: 2 },
    { name: "a", cost: null },
    { name: "c", cost: 10 },
  ];
  const sorted = (query: string) =>
    sortRows(rows, columns, readSort(new URLSearchParams(query))).map(({ name }) => name);

  test("sort by the column in the address, with unknown values last in both directions", () => {
    expect(sorted("")).toEqual(["b", "a", "c"]);
    expect(sorted("sort=cost")).toEqual(["c", "b", "a"]);
    expect(sorted("sort=-cost")).toEqual(["b", "c", "a"]);
    expect(sorted("sort=-name")).toEqual(["a", "b", "c"]);
    expect(sorted("sort=nothing")).toEqual(["b", "a", "c"]);
  });
});

describe("console-notes 4: charts", () => {
  test("a point between gaps is drawn as a point", () => {
    expect(lonely([1, null, 2, 3, null, 4])).toEqual([0, 5]);
    expect(lonely([null, null])).toEqual([]);
  });
});

describe("console-notes 4: zones and links", () => {
  test("the clocks of a zone are read back as the same moment, but for an hour that they show twice", () => {
    const zones = fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe");
    const seconds = fc.integer({ min: 1_600_000_000, max: 1_900_000_000 });
    fc.assert(
      fc.property(zones, seconds, (zone, second) => {
        const read = zoned(wallClock(second * 1_000, zone), zone) ?? Number.NaN;
        expect(wallClock(read, zone)).toBe(wallClock(second * 1_000, zone));
        expect(Math.abs(read - second * 1_000)).toBeLessThanOrEqual(3_600_000);
      }),
    );
    expect(zoned("2026-03-29T12:00", "Europe/Berlin")).toBe(Date.parse("2026-03-29T10:00:00Z"));
    expect([zoned("nonsense", "UTC"), zoned("2026-03-29T12:00", "Mars/Phobos")]).toEqual([undefined, undefined]);
  });

  test("a copied link has the range as two moments", () => {
    const query = new URLSearchParams("q=model:a&range=1h&live=1&after=x");
    expect(lastingAddress("http://h", "/calls", query, Date.parse("2026-11-18T10:00:00Z"))).toBe(
      "http://h/calls?q=model%3Aa&from=2026-11-18T09%3A00%3A00.000Z&to=2026-11-18T10%3A00%3A00.000Z",
    );
  });

  test("saved views ignore what is not a view", () => {
    expect(readViews('[{"name":"a","path":"/calls","query":"q=x"},{"name":1},null]')).toEqual([
      { name: "a", path: "/calls", query: "q=x" },
    ]);
    expect([readViews("{"), readViews("{}"), readViews(null)]).toEqual([[], [], []]);
  });
});
