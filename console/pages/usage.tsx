import { ask } from "../api/client.ts";
import type { UsageAnswer, UsageRow } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, decimal, percent, short, whole } from "../format/numbers.ts";
import { Choice, Empty, PageHead, words } from "../parts/basics.tsx";
import { Before, share } from "../parts/before.tsx";
import { Budgets } from "../parts/budgets.tsx";
import { Chart, type Tone } from "../parts/chart.tsx";
import { CopyLink } from "../parts/copy-link.tsx";
import { currentFilter, FilterBar } from "../parts/filter-bar.tsx";
import { FirstCall } from "../parts/first-call.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { RANGES_OF_DAYS, RangeChoice } from "../parts/range-choice.tsx";
import { RankedBars } from "../parts/ranked-bars.tsx";
import { SavedViews } from "../parts/saved-views.tsx";
import { Tile } from "../parts/tile.tsx";
import { UsageExports } from "../parts/usage-exports.tsx";
import { groupWords, SEPARATOR, UsageTable } from "../parts/usage-table.tsx";
import { useData } from "../parts/use-data.ts";
import { useRoom } from "../parts/use-room.ts";
import { ZoneChoice } from "../parts/zone-choice.tsx";
import { notNarrowedBy, unsummed, usageQuery, writeFilter } from "../state/filter.ts";
import { mayReadCalls } from "../state/may-read-calls.ts";
import { periodBefore, type Range, rangeQuery, readRange } from "../state/range.ts";
import { place, setQuery } from "../state/router.ts";
import {
  DIMENSIONS,
  type Dimension,
  isTime,
  METRIC_NAMES,
  METRICS,
  type MetricName,
  OTHER,
  overlap,
  reportOf,
  stackOf,
  valuesOf,
} from "../state/usage.ts";
import type { UsageView } from "../state/usage-links.ts";
import { readZone } from "../state/zone.ts";

const MOST_ROWS = 1_000;
const DAY_MS = 86_400_000;
const TONES: readonly Tone[] = ["one", "two", "three", "four", "five", "rest"];
/** The series beside that of the rest. */
const MOST_SERIES = TONES.length - 1;
const FEW_SERIES = 3;
const ROOM_FOR_ALL = 900;

function dimensionsOf(query: URLSearchParams): Dimension[] {
  const given = (query.get("by") ?? "day,model").split(",");
  const known = DIMENSIONS.filter((name) => given.includes(name));
  return known.length === 0
    ? ["model"]
    : known.sort((one, other) => given.indexOf(one) - given.indexOf(other)).slice(0, 2);
}

interface Sums {
  now: UsageAnswer;
  /** Of the period of equal length before. */
  before: UsageAnswer["total"];
}

function GroupBy({ by }: { by: readonly Dimension[] }) {
  const choose = (at: number, value: string) => {
    const next = at === 0 ? [value, by[1]] : [by[0], value];
    setQuery({ by: [...new Set(next.filter((one) => one !== undefined && one !== ""))].join(","), sort: undefined });
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
                {words(one)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </span>
  );
}

interface FiguresProps {
  sums: Sums;
  /** The address of the calls of the page, also narrowed by this. */
  calls: (filter?: string) => string | undefined;
  range: Range;
}

/** The totals of the range. Each shows the calls it counts, and its change against the period before. */
function Figures({ sums: { now, before }, calls, range }: FiguresProps) {
  const lengthMs = Math.max(1, (range.toMs ?? Date.now()) - range.fromMs);
  const [is, was] = [valuesOf(now.total), valuesOf(before)];
  const known = before.calls > 0;
  const tokens = (values: Record<MetricName, number>): number => values.input + values.cached + values.output;
  return (
    <dl class="tiles four">
      <Tile
        label="Cost"
        value={money(is.cost)}
        address={calls()}
        change={<Before now={is.cost} before={known ? was.cost : null} format={money} />}
        note={`${money(is.calls === 0 ? 0 : Math.round(is.cost / is.calls))} a call`}
      />
      <Tile
        label="Calls"
        value={short(is.calls)}
        address={calls()}
        change={<Before now={is.calls} before={known ? was.calls : null} format={short} />}
        note={`${decimal((is.calls * DAY_MS) / lengthMs)} a day`}
      />
      <Tile
        label="Failed"
        value={percent(is.failures, is.calls)}
        address={calls("outcome:failed")}
        change={
          <Before
            now={is.calls === 0 ? null : is.failures / is.calls}
            before={known ? was.failures / was.calls : null}
            format={share}
            more="worse"
          />
        }
        note={counted(is.failures, "call")}
      />
      <Tile
        label="Tokens"
        value={short(tokens(is))}
        address={calls()}
        change={<Before now={tokens(is)} before={known ? tokens(was) : null} format={short} />}
        note={`${short(is.input)} in, ${short(is.cached)} cached, ${short(is.output)} out`}
      />
    </dl>
  );
}

export function Usage() {
  const { query } = place.value;
  const by = dimensionsOf(query);
  const zone = readZone(query);
  const range = readRange(query, Date.now(), "30d");
  const metric = METRIC_NAMES.find((name) => name === query.get("metric")) ?? "cost";
  const filter = currentFilter();
  const narrowed = { ...usageQuery(filter), zone };
  const key = JSON.stringify([by, zone, query.get("range"), query.get("from"), query.get("to"), usageQuery(filter)]);
  const data = useData(key, async (abort): Promise<Sums> => {
    const load = (of: Range, more: Readonly<Record<string, string>>) =>
      ask<UsageAnswer>("/api/usage", { ...narrowed, ...rangeQuery(of), ...more }, abort);
    if (!by.some(isTime)) {
      const now = await load(range, { by: by.join(","), compare: "previous" });
      return { now, before: now.previous?.total ?? now.total };
    }
    // Other days are other groups, so only the totals are compared.
    const [now, before] = await Promise.all([
      load(range, { by: by.join(",") }),
      load(periodBefore(range, Date.now()), { by: "outcome" }),
    ]);
    return { now, before: before.total };
  });
  const note = notNarrowedBy(unsummed(filter));
  const view: UsageView = { by, zone, filter, query };
  const callsOfPage = (more = ""): string | undefined => {
    if (!mayReadCalls()) return undefined;
    const next = new URLSearchParams({ q: [writeFilter(filter), more].filter((one) => one !== "").join(" ") });
    for (const name of ["range", "from", "to", "zone"]) if (query.get(name)) next.set(name, query.get(name) ?? "");
    if (!next.has("range") && !next.has("from")) next.set("range", "30d");
    return `/calls?${next}`;
  };
  return (
    <>
      <PageHead title="Usage">
        <SavedViews />
        <CopyLink usual="30d" />
        <RangeChoice range={range} names={RANGES_OF_DAYS} />
        <ZoneChoice zone={zone} />
      </PageHead>
      <FilterBar label="Filter usage" />
      <div class="tools">
        <Choice
          label="Metric"
          value={metric}
          options={METRIC_NAMES.map((name) => ({ value: name, name: METRICS[name].name }))}
          onChange={(name: MetricName) => setQuery({ metric: name, sort: undefined })}
        />
        <GroupBy by={by} />
        <UsageExports by={by} rows={data.data?.now.data ?? []} filter={filter} range={range} />
      </div>
      {note !== "" && <p class="muted note">Totals are {note}; the export of calls is.</p>}
      <Loaded of={data} rows={10}>
        {(sums) => (
          <>
            {sums.now.total.calls === 0 ? (
              <NoUsage isFiltered={Object.keys(filter).length > 0} />
            ) : (
              <>
                <Figures sums={sums} calls={callsOfPage} range={range} />
                <Groups sums={sums} view={view} metric={metric} range={range} />
              </>
            )}
          </>
        )}
      </Loaded>
      <Budgets />
    </>
  );
}

const NoUsage = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No usage matches this filter">
      <p>
        <button type="button" onClick={() => setQuery({ q: undefined })}>
          Remove the filter
        </button>
      </p>
    </Empty>
  ) : (
    <Empty title="No usage in this time range">
      <FirstCall />
    </Empty>
  );

const NOT_IN_GROUPS: Readonly<Record<string, string>> = {
  tag: "A call counts once under each of its tags, and calls without tags are in no row.",
  end_user: "Calls without an end user are in no row.",
};

function Groups({ sums, view, metric, range }: { sums: Sums; view: UsageView; metric: MetricName; range: Range }) {
  const { by } = view;
  const { data, total, groups_left_out: isCut } = sums.now;
  const overlapping = by.find((name) => overlap([name]));
  if (data.length === 0 && overlapping !== undefined)
    return (
      <Empty title={overlapping === "tag" ? "No tagged calls in this time range" : "No end users in this time range"}>
        {overlapping === "tag" ? (
          <p>
            Send the header <code>x-trivium-tags: team-a, feature=search</code> with a call, or set tags on a key to add
            them to all its calls.
          </p>
        ) : (
          <p>
            Send the header <code>x-trivium-user</code>, or <code>user</code> in the body, to record who uses your
            program.
          </p>
        )}
      </Empty>
    );
  const report = reportOf(sorted(data, by, metric), [total], MOST_ROWS, overlapping !== undefined);
  const before = by.some(isTime)
    ? undefined
    : new Map(
        data.flatMap(({ groups, previous }) =>
          previous == null ? [] : [[groups.join(SEPARATOR), valuesOf(previous)] as const],
        ),
      );
  return (
    <>
      {by.some(isTime) ? (
        <OverTime rows={data} by={by} metric={metric} range={range} />
      ) : (
        <RankedBars view={view} metric={metric} report={report} />
      )}
      {overlapping !== undefined && (
        <p class="muted note">
          {NOT_IN_GROUPS[overlapping]} The rows therefore do not add up to the total, which counts every call once.
        </p>
      )}
      <UsageTable view={view} metric={metric} report={report} before={before} isComplete={!isCut} />
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
  range,
}: {
  rows: readonly UsageRow[];
  by: readonly Dimension[];
  metric: MetricName;
  range: Range;
}) {
  const hasRoom = useRoom(ROOM_FOR_ALL);
  const { times, everyMs, series } = stackOf(rows, by, metric, hasRoom ? MOST_SERIES : FEW_SERIES);
  const all = series.reduce((sum, { values }) => sum + values.reduce((one, value) => one + value, 0), 0);
  const other = by.find((name) => !isTime(name));
  return (
    <div class="over-time">
      <Chart
        title={`${METRICS[metric].name} by ${words(by.join(" and "))}`}
        times={times}
        everyMs={everyMs}
        span={[range.fromMs, range.toMs ?? Date.now()]}
        kind="bars"
        height={220}
        unit={metric === "cost" ? "money" : "count"}
        summary={
          overlap(by)
            ? "Calls with several tags count under each tag."
            : `${metric === "cost" ? money(all) : whole(all)} in total.`
        }
        series={series.map(({ name, values }, at) => ({
          name: other === undefined || name === OTHER ? name : groupWords(other, name),
          values,
          tone: name === OTHER ? "rest" : (TONES[at] ?? "rest"),
        }))}
        onSpan={(fromMs, toMs) =>
          setQuery({
            from: new Date(fromMs).toISOString(),
            to: new Date(Math.max(toMs, fromMs + 60_000)).toISOString(),
            range: undefined,
          })
        }
      />
    </div>
  );
}
