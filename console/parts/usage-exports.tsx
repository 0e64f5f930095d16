import { withQuery } from "../api/client.ts";
import type { UsageRow } from "../api/types.ts";
import { csvOf, download } from "../format/csv.ts";
import { type CallFilter, receiptQuery } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { type Range, rangeQuery } from "../state/range.ts";
import { Icon } from "./icon.tsx";

/** Hosted tools are counted per receipt; totals have no column for them. */
function countersOf(usage: UsageRow["usage"] | undefined): Record<string, number | null> {
  if (usage === undefined) return {};
  const { tools: _tools, ...counters } = usage;
  return counters;
}

/** One line for each row, with the names of keys beside their IDs. */
export function sumsAsCsv(
  by: readonly string[],
  rows: readonly UsageRow[],
  nameOf: (id: string) => string = nameOfKey,
): string {
  const counters = Object.keys(countersOf(rows[0]?.usage));
  const named = by.flatMap((dimension) => (dimension === "key" ? ["key", "key_name"] : [dimension]));
  const head = [...named, "calls", "failures", "cost_nano_usd", "cost_usd", ...counters];
  const lines = rows.map((row) => [
    ...by.flatMap((dimension, at) => {
      const group = row.groups[at] ?? "";
      return dimension === "key" ? [group, group === "" ? "" : nameOf(group)] : [group];
    }),
    row.calls,
    row.failures,
    row.cost_nano_usd,
    row.cost_usd,
    ...Object.values(countersOf(row.usage)).map((value) => value ?? ""),
  ]);
  return csvOf([head, ...lines]);
}

interface UsageExportsProps {
  by: readonly string[];
  rows: readonly UsageRow[];
  filter: CallFilter;
  range: Range;
}

export const UsageExports = ({ by, rows, filter, range }: UsageExportsProps) => (
  <span class="exports">
    <button
      type="button"
      disabled={rows.length === 0}
      onClick={() => download("usage.csv", "text/csv", sumsAsCsv(by, rows))}
    >
      <Icon name="download" size={15} /> Totals (CSV)
    </button>
    <a
      class="button"
      href={withQuery("/api/usage/export", { ...receiptQuery(filter), ...rangeQuery(range), format: "csv" })}
      download="receipts.csv"
    >
      <Icon name="download" size={15} /> Calls (CSV)
    </a>
  </span>
);
