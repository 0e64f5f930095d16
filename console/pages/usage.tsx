import { ask, withQuery } from "../api/client.ts";
import type { UsageRow } from "../api/types.ts";
import { csvOf, download } from "../format/csv.ts";
import { money } from "../format/money.ts";
import { short, whole } from "../format/numbers.ts";
import { Choice, Empty, PageHead, Problem, Waiting, words } from "../parts/basics.tsx";
import { Chart, type Tone } from "../parts/chart.tsx";
import { currentFilter, FilterBar } from "../parts/filter-bar.tsx";
import { FirstCall } from "../parts/first-call.tsx";
import { Icon } from "../parts/icon.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { UsageTable } from "../parts/usage-table.tsx";
import { useData } from "../parts/use-data.ts";
import { notNarrowedBy, receiptQuery, unsummed, usageQuery } from "../state/filter.ts";
import { type Range, rangeQuery, readRange } from "../state/range.ts";
import { place, setQuery } from "../state/router.ts";
import {
  DIMENSIONS,
  type Dimension,
  isTime,
  METRIC_NAMES,
  METRICS,
  type MetricName,
  overlap,
  reportOf,
  stackOf,
} from "../state/usage.ts";
import { ownZone } from "../state/zone.ts";

const MOST_ROWS = 200;
const TONES: readonly Tone[] = ["one", "two", "three", "rest"];

function dimensionsOf(query: URLSearchParams): Dimension[] {
  const given = (query.get("by") ?? "day,model").split(",");
  return DIMENSIONS.filter((known) => given.includes(known))
    .sort((one, other) => given.indexOf(one) - given.indexOf(other))
    .slice(0, 2);
}

interface Sums {
  rows: UsageRow[];
  all: UsageRow[];
}

function GroupBy({ by }: { by: readonly Dimension[] }) {
  const choose = (at: number, value: string) => {
    const next = at === 0 ? [value, by[1]] : [by[0], value];
    setQuery({ by: [...new Set(next.filter((one) => one !== undefined && one !== ""))].join(",") });
  };
  return (
    <span class="group-by">
      {[0, 1].map((at) => (
        <label key={at}>
          <span class="muted">{at === 0 ? "Group by" : "then by"}</span>{" "}
          <select value={by[at] ?? ""} onChange={(event) => choose(at, event.currentTarget.value)}>
            {at === 1 && <option value="">none</option>}
            {DIMENSIONS.filter((one) => one === by[at] || !by.includes(one)).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      ))}
    </span>
  );
}

const zones = (): string[] => [...new Set(["UTC", ownZone(), ...Intl.supportedValuesOf("timeZone")])];

const ZoneChoice = ({ zone }: { zone: string }) => (
  <label>
    <span class="muted">Time zone</span>{" "}
    <select value={zone} onChange={(event) => setQuery({ zone: event.currentTarget.value })}>
      {zones().map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

/** Hosted tools are counted per receipt; totals have no column for them. */
function countersOf(usage: UsageRow["usage"] | undefined): Record<string, number | null> {
  if (usage === undefined) return {};
  const { tools: _tools, ...counters } = usage;
  return counters;
}

function exportSums(by: readonly string[], rows: readonly UsageRow[]): void {
  const counters = Object.keys(countersOf(rows[0]?.usage));
  const head = [...by, "calls", "failures", "cost_nano_usd", "cost_usd", ...counters];
  const lines = rows.map((row) => [
    ...row.groups,
    row.calls,
    row.failures,
    row.cost_nano_usd,
    row.cost_usd,
    ...Object.values(countersOf(row.usage)).map((value) => value ?? ""),
  ]);
  download("usage.csv", "text/csv", csvOf([head, ...lines]));
}

export function Usage() {
  const { query } = place.value;
  const by = dimensionsOf(query);
  const zone = query.get("zone") ?? ownZone();
  const range = readRange(query, Date.now(), "30d");
  const metric = METRIC_NAMES.find((name) => name === query.get("metric")) ?? "cost";
  const filter = currentFilter();
  const narrowed = { ...usageQuery(filter), ...rangeQuery(range), zone };
  const key = JSON.stringify([by, zone, query.get("range"), query.get("from"), query.get("to"), usageQuery(filter)]);
  const { data, error, reload } = useData(key, async (abort): Promise<Sums> => {
    const load = async (dimensions: string) =>
      (await ask<{ data: UsageRow[] }>("/api/usage", { ...narrowed, by: dimensions }, abort)).data;
    const [rows, all] = await Promise.all([load(by.join(",")), load("outcome")]);
    return { rows, all };
  });
  const note = notNarrowedBy(unsummed(filter));
  const format = metric === "cost" ? money : short;
  return (
    <>
      <PageHead title="Usage">
        <button
          type="button"
          disabled={!data || data.rows.length === 0}
          onClick={() => exportSums(by, data?.rows ?? [])}
        >
          <Icon name="download" size={15} /> Export totals (CSV)
        </button>
        <a
          class="button"
          href={withQuery("/api/usage/export", { ...receiptQuery(filter), ...rangeQuery(range), format: "csv" })}
          download="receipts.csv"
        >
          <Icon name="download" size={15} /> Export calls (CSV)
        </a>

        <RangeChoice range={range} />
      </PageHead>
      <FilterBar label="Filter usage" />
      <div class="tools">
        <Choice
          label="Metric"
          value={metric}
          options={METRIC_NAMES.map((name) => ({ value: name, name: METRICS[name].name }))}
          onChange={(name: MetricName) => setQuery({ metric: name })}
        />
        <GroupBy by={by} />
        <ZoneChoice zone={zone} />
      </div>
      {note !== "" && <p class="muted note">Totals are {note}; the call export is.</p>}
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting rows={10} />
      ) : data.rows.length === 0 && data.all.length > 0 && overlap(by) ? (
        <Empty title="No tagged calls in this time range">
          <p>
            Send the header <code>x-trivium-tags: team-a, feature=search</code> with a call, or set tags on a key to add
            them to all its calls.
          </p>
        </Empty>
      ) : data.rows.length === 0 ? (
        <Empty title="No usage in this time range">
          <FirstCall />
        </Empty>
      ) : (
        <>
          {by.some(isTime) && <OverTime rows={data.rows} by={by} metric={metric} format={format} range={range} />}
          {overlap(by) && (
            <p class="muted note">
              A call counts once under each of its tags, and calls without tags are in no row. The rows therefore do not
              add up to the total, which counts every call once.
            </p>
          )}
          <UsageTable
            by={by}
            metric={metric}
            report={reportOf(sorted(data.rows, by, metric), data.all, MOST_ROWS, overlap(by))}
          />
        </>
      )}
    </>
  );
}

/** Latest first if grouped by time, otherwise by the selected metric. */
function sorted(rows: readonly UsageRow[], by: readonly string[], metric: MetricName): UsageRow[] {
  const at = by.findIndex(isTime);
  const size = METRICS[metric].of;
  return rows.toSorted((one, other) => {
    const later = at < 0 ? 0 : (other.groups[at] ?? "").localeCompare(one.groups[at] ?? "");
    return later || size(other) - size(one);
  });
}

function OverTime({
  rows,
  by,
  metric,
  format,
  range,
}: {
  rows: readonly UsageRow[];
  by: readonly string[];
  metric: MetricName;
  format: (value: number) => string;
  range: Range;
}) {
  const { times, everyMs, series } = stackOf(rows, by, metric);
  const all = series.reduce((sum, { values }) => sum + values.reduce((one, value) => one + value, 0), 0);
  return (
    <div class="over-time">
      <Chart
        title={`${METRICS[metric].name} by ${words(by.join(" and "))}`}
        times={times}
        everyMs={everyMs}
        span={[range.fromMs, range.toMs ?? Date.now()]}
        kind="bars"
        height={220}
        format={format}
        summary={
          overlap(by)
            ? "Calls with several tags count under each tag."
            : `${metric === "cost" ? money(all) : whole(all)} in total.`
        }
        series={series.map(({ name, values }, at) => ({ name: name || "(none)", values, tone: TONES[at] ?? "rest" }))}
      />
    </div>
  );
}
