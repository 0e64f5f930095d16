import { ask } from "../api/client.ts";
import type { Overview, UsageRow } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { type CallFilter, notNarrowedBy, unsummed, usageQuery } from "../state/filter.ts";
import { type Range, rangeQuery } from "../state/range.ts";
import { setQuery } from "../state/router.ts";
import { Chart } from "./chart.tsx";
import { useData } from "./use-data.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** For longer ranges, each bar is a day. */
const MAX_HOURS = 24 * 8;

export interface Volume {
  everyMs: number;
  times: number[];
  calls: number[];
  failures: number[];
}

/** One bar for each interval of the range, 0 for intervals without calls. */
export function volumeOf(rows: readonly UsageRow[], everyMs: number, fromMs: number, toMs: number): Volume {
  const found = new Map(rows.map((row) => [Math.floor(Date.parse(row.group) / everyMs), row]));
  const first = Math.floor(fromMs / everyMs);
  const last = Math.floor((toMs - 1) / everyMs);
  const parts = Array.from({ length: Math.max(1, last - first + 1) }, (_, at) => first + at);
  return {
    everyMs,
    times: parts.map((part) => part * everyMs),
    calls: parts.map((part) => found.get(part)?.calls ?? 0),
    failures: parts.map((part) => found.get(part)?.failures ?? 0),
  };
}

/** Totals are not stored per minute. The overview has minutes for the last hour, over all calls. */
async function load(filter: CallFilter, range: Range, abort: AbortSignal): Promise<Volume> {
  const toMs = range.toMs ?? Date.now();
  if (range.name === "15m" || range.name === "1h") {
    const { data } = await ask<{ data: Overview }>("/api/overview", { window: range.name }, abort);
    return {
      everyMs: data.every_ms,
      times: data.series.map(({ at }) => Date.parse(at)),
      calls: data.series.map(({ calls }) => calls),
      failures: data.series.map(({ failures }) => failures),
    };
  }
  const everyMs = toMs - range.fromMs > MAX_HOURS * HOUR_MS ? DAY_MS : HOUR_MS;
  const by = everyMs === DAY_MS ? "day" : "hour";
  const { data } = await ask<{ data: UsageRow[] }>(
    "/api/usage",
    { ...usageQuery(filter), ...rangeQuery(range), by },
    abort,
  );
  return volumeOf(data, everyMs, range.fromMs, toMs);
}

/** The number of calls over time. Dragging over a part selects that range. */
export function CallVolume({ filter, range }: { filter: CallFilter; range: Range }) {
  const isShort = range.name === "15m" || range.name === "1h";
  const key = JSON.stringify([filter, range.name ?? [range.fromMs, range.toMs]]);
  const { data } = useData(key, (abort) => load(filter, range, abort));
  if (data === undefined) return <div class="chart volume" />;
  const all = data.calls.reduce((sum, calls) => sum + calls, 0);
  // Minutes cover all calls, whatever the filter.
  const note = notNarrowedBy(isShort ? Object.keys(filter) : unsummed(filter));
  return (
    <div class="volume">
      <Chart
        title={note === "" ? "Volume" : `Volume, ${note}`}
        times={data.times}
        everyMs={data.everyMs}
        kind="bars"
        height={92}
        unit="count"
        summary={`${counted(all, "call")} in this time range.`}
        series={[
          { name: "answered", values: data.calls.map((calls, at) => calls - (data.failures[at] ?? 0)), tone: "one" },
          { name: "failed", values: data.failures, tone: "bad" },
        ]}
        onSpan={(fromMs, toMs) =>
          setQuery({
            from: new Date(fromMs).toISOString(),
            to: new Date(Math.max(toMs, fromMs + 60_000)).toISOString(),
            range: undefined,
            after: undefined,
            live: undefined,
          })
        }
      />
    </div>
  );
}
