import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { Overview as OverviewData, UsageRow } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, decimal, duration, known, percent, short } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { Choice, Empty, PageHead } from "../parts/basics.tsx";
import { Before, share } from "../parts/before.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { FirstCall } from "../parts/first-call.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { OutOfDate } from "../parts/out-of-date.tsx";
import { OverviewCharts } from "../parts/overview-charts.tsx";
import { StateLines, useCircumstances } from "../parts/state-lines.tsx";
import { Tile } from "../parts/tile.tsx";
import { TopTable } from "../parts/top-table.tsx";
import { UnpricedUses } from "../parts/unpriced-uses.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { listenTo } from "../state/events.ts";
import { RANGE_NAMES, type Range, readRange } from "../state/range.ts";
import { goTo, place, setQuery } from "../state/router.ts";
import { ownZone, readZone, startOfDay, wallClock } from "../state/zone.ts";

const REFRESH_MS = 2_000;
/** What changes seldom is asked for seldom. */
const SLOWLY_MS = 20_000;
const TURN_MS = 30_000;
const HOUR_MS = 3_600_000;

interface Spent {
  today: number;
  yesterday: number;
  /** The starts of yesterday and today. */
  days: readonly [number, number];
}

/** What was spent today and yesterday, by the days of the page's zone. */
async function spentOf(zone: string, abort: AbortSignal): Promise<Spent> {
  const nowMs = Date.now();
  const today = startOfDay(nowMs, zone);
  // Days have 23 to 25 hours.
  const yesterday = startOfDay(today - 12 * HOUR_MS, zone);
  const from = new Date(yesterday).toISOString();
  const { data } = await ask<{ data: UsageRow[] }>("/api/usage", { by: "day", from, zone }, abort);
  const costOf = (ms: number): number =>
    data.find(({ group }) => group === wallClock(ms, zone).slice(0, 10))?.cost_nano_usd ?? 0;
  return { today: costOf(today), yesterday: costOf(yesterday), days: [yesterday, today] };
}

/** Which keys spent most on a day. Today has no end, so that the page goes on updating itself. */
const dayAddress = (spent: Spent, zone: string, day: "today" | "yesterday"): string => {
  const [yesterday, today] = spent.days.map((ms) => new Date(ms).toISOString());
  const range = day === "today" ? { from: today ?? "" } : { from: yesterday ?? "", to: today ?? "" };
  return `/usage?${new URLSearchParams({ ...range, zone, by: "key" })}`;
};

const rate = ({ calls, failures }: { calls: number; failures: number }): number | null =>
  calls === 0 ? null : failures / calls;

function Tiles({
  data,
  spent,
  window,
  zone,
}: {
  data: OverviewData;
  spent: Spent | undefined;
  window: string;
  zone: string;
}) {
  const { total, previous } = data;
  return (
    <dl class="tiles four" aria-live="off">
      <Tile
        label="Calls"
        value={short(total.calls)}
        address={`/calls?range=${window}`}
        change={<Before now={total.calls} before={previous?.calls ?? null} format={short} />}
        note={`${decimal(data.calls_per_minute)} per minute`}
      />
      <Tile
        label="Failed"
        value={percent(total.failures, total.calls)}
        address={callsWith({ outcome: "failed" }, window)}
        change={<Before now={rate(total)} before={previous && rate(previous)} format={share} more="worse" />}
        note={counted(total.failures, "call")}
      />
      <Tile
        label="Time to first content"
        value={known(total.first_content_ms.p50, duration)}
        address="/models"
        change={
          <Before
            now={total.first_content_ms.p50}
            before={previous?.first_content_ms.p50 ?? null}
            format={duration}
            more="worse"
          />
        }
        note={`median · p95 ${known(total.first_content_ms.p95, duration)}`}
      />
      <Tile
        label="Cost"
        value={money(total.cost_nano_usd)}
        address={`/usage?range=${window}&by=key`}
        change={<Before now={total.cost_nano_usd} before={previous?.cost_nano_usd ?? null} format={money} />}
        note={
          spent && (
            <>
              <a href={dayAddress(spent, zone, "today")}>today {money(spent.today)}</a> ·{" "}
              <a href={dayAddress(spent, zone, "yesterday")}>yesterday {money(spent.yesterday)}</a>
              {zone === ownZone() ? "" : ` (${zone})`}
            </>
          )
        }
      />
    </dl>
  );
}

/** The sums of the overview are kept for presets only. */
function OtherRange({ range, window }: { range: Range; window: string }) {
  const query = new URLSearchParams(place.value.query);
  return (
    <p class="muted note">
      The overview shows the last {window}. For {full(range.fromMs)} to{" "}
      {range.toMs === undefined ? "now" : full(range.toMs)}, see the <a href={`/calls?${query}`}>calls</a> or the{" "}
      <a href={`/usage?${query}`}>usage</a>.
    </p>
  );
}

function Parts({ data, window }: { data: OverviewData; window: string }) {
  const showSpan = (fromMs: number, toMs: number) =>
    goTo(
      `/calls?${new URLSearchParams({
        from: new Date(fromMs).toISOString(),
        to: new Date(Math.max(toMs, fromMs + 60_000)).toISOString(),
      })}`,
    );
  return (
    <>
      <OverviewCharts data={data} onSpan={showSpan} />
      <div class="tops">
        <TopTable title="Models" name="model" groups={data.top.models} range={window} />
        <TopTable title="Providers" name="provider" groups={data.top.providers} range={window} />
        <TopTable title="Keys" name="key" groups={data.top.keys} range={window} />
      </div>
      <UnpricedUses uses={data.unpriced} />
    </>
  );
}

export function Overview() {
  const { query } = place.value;
  const range = readRange(query, Date.now(), "1h");
  const window = range.name ?? "1h";
  const zone = readZone(query);
  const overview = useData(window, (abort) => ask<{ data: OverviewData }>("/api/overview", { window }, abort));
  const spent = useData(`spent ${zone}`, (abort) => spentOf(zone, abort));
  const circumstances = useCircumstances();
  const refresh = useThrottled(() => {
    overview.reload();
    spent.reload();
  }, REFRESH_MS);
  const refreshRest = useThrottled(circumstances.reload, SLOWLY_MS);
  useEffect(
    () =>
      listenTo(({ type }) => {
        if (type === "call.committed") return;
        refresh();
        refreshRest();
      }),
    [],
  );
  useEffect(() => {
    const turn = setInterval(() => {
      refresh();
      refreshRest();
    }, TURN_MS);
    return () => clearInterval(turn);
  }, []);
  return (
    <>
      <PageHead title="Overview">
        <Choice
          label="Range"
          value={window}
          options={RANGE_NAMES.map((name) => ({ value: name, name }))}
          onChange={(name) => setQuery({ range: name, from: undefined, to: undefined })}
        />
      </PageHead>
      {range.name === undefined && <OtherRange range={range} window={window} />}
      <OutOfDate atMs={overview.atMs} error={overview.error} reload={overview.reload} />
      <Loaded of={overview} rows={10}>
        {({ data }) => {
          const isNew =
            data.total.calls === 0 &&
            data.previous === null &&
            (spent.data?.yesterday ?? 0) + (spent.data?.today ?? 0) === 0;
          return (
            <>
              <StateLines findings={data.attention} running={data.running_calls} circumstances={circumstances.data} />
              {isNew ? (
                <Empty title="No calls yet">
                  <FirstCall />
                </Empty>
              ) : (
                <>
                  <Tiles data={data} spent={spent.data} window={window} zone={zone} />
                  <Parts data={data} window={window} />
                </>
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}
