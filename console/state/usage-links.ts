import { type CallFilter, writeFilter } from "./filter.ts";
import { mayReadCalls } from "./may-read-calls.ts";
import { type Dimension, deeperThan, isTime, type SumRow } from "./usage.ts";
import { zoned } from "./zone.ts";

const HOUR_MS = 3_600_000;

/** What a link within the page needs of its address. */
export interface UsageView {
  by: readonly Dimension[];
  zone: string;
  filter: CallFilter;
  query: URLSearchParams;
}

/** The filter that selects the calls of a row; undefined if a filter cannot express it. */
function filterOf({ by, filter }: UsageView, { groups }: SumRow): CallFilter | undefined {
  const own = Object.fromEntries(by.flatMap((name, at) => (isTime(name) ? [] : [[name, groups[at] ?? ""]])));
  if (Object.values(own).some((value) => value === "")) return undefined;
  return { ...filter, ...own };
}

/** The range of the page, or the day or hour of the row. */
function rangeOf({ by, zone, query }: UsageView, { groups }: SumRow): Record<string, string> {
  const at = by.findIndex(isTime);
  const written = groups[at];
  if (written === undefined) {
    const names = ["range", "from", "to", "zone"].filter((name) => query.get(name));
    const given = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
    return given["range"] === undefined && given["from"] === undefined ? { range: "30d", ...given } : given;
  }
  const isDay = by[at] === "day";
  const fromMs = isDay ? zoned(`${written}T00:00:00`, zone) : Date.parse(written);
  if (fromMs === undefined || Number.isNaN(fromMs)) return { zone };
  const toMs = isDay ? (zoned(`${dayAfter(written)}T00:00:00`, zone) ?? fromMs + 24 * HOUR_MS) : fromMs + HOUR_MS;
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), zone };
}

const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 24 * HOUR_MS).toISOString().slice(0, 10);

/** The address of the calls that a row counts. */
export function callsOf(view: UsageView, row: SumRow): string | undefined {
  const filter = mayReadCalls() ? filterOf(view, row) : undefined;
  return filter && `/calls?${new URLSearchParams({ q: writeFilter(filter), ...rangeOf(view, row) })}`;
}

/** The address of the same page with only this row, by another dimension: why it is so large. */
export function insideOf(view: UsageView, row: SumRow): string | undefined {
  const filter = filterOf(view, row);
  const next = deeperThan(view.by);
  if (filter === undefined || next === undefined) return undefined;
  const query = new URLSearchParams({ q: writeFilter(filter), ...rangeOf(view, row), by: next });
  const metric = view.query.get("metric");
  if (metric !== null) query.set("metric", metric);
  return `/usage?${query}`;
}
