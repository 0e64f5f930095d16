import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { Overview as OverviewData, UsageRow } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, decimal, duration, known, percent, short, whole } from "../format/numbers.ts";
import { Empty, PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
import { Chart, type Tone } from "../parts/chart.tsx";
import { FirstCall } from "../parts/first-call.tsx";
import { RangeChoice } from "../parts/range-choice.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { TopTable } from "../parts/top-table.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { listenTo } from "../state/events.ts";
import { nameOfKey } from "../state/names.ts";
import { readRange } from "../state/range.ts";
import { place } from "../state/router.ts";
import { ownZone } from "../state/zone.ts";

const REFRESH_MS = 2_000;

/** Daily totals of the current month, in the browser's time zone. */
async function monthOf(abort: AbortSignal): Promise<UsageRow[]> {
  const now = new Date();
  const from = new Date(now.getFullYear(), now.getMonth(), 1).toISOString();
  return (await ask<{ data: UsageRow[] }>("/api/usage", { by: "day", from, zone: ownZone() }, abort)).data;
}

const sum = (rows: readonly UsageRow[]): number => rows.reduce((all, { cost_nano_usd }) => all + cost_nano_usd, 0);

const today = (): string => {
  const now = new Date();
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;
};

function Tile({
  label,
  value,
  note,
  spark,
  tone = "one",
}: {
  label: string;
  value: string;
  note?: ComponentChildren;
  spark?: readonly (number | null)[];
  tone?: Tone;
}) {
  return (
    <div class="tile">
      <dt>{label}</dt>
      <dd>
        <strong>{value}</strong>
        <span class="muted">{note}</span>
        {spark && <Sparkline values={spark} tone={tone} />}
      </dd>
    </div>
  );
}

const Tiles = ({ data, month }: { data: OverviewData; month: readonly UsageRow[] | undefined }) => {
  const { total, series } = data;
  const ofToday = month?.filter(({ group }) => group.startsWith(today())) ?? [];
  return (
    <dl class="tiles" aria-live="off">
      <Tile
        label="Calls per minute"
        value={decimal(data.calls_per_minute)}
        note={counted(total.calls, "call")}
        spark={series.map(({ calls }) => calls)}
      />
      <Tile label="In flight" value={whole(data.running_calls)} note="in this process" />
      <Tile
        label="Failures"
        value={percent(total.failures, total.calls)}
        note={counted(total.failures, "call")}
        spark={series.map(({ failures }) => failures)}
        tone="bad"
      />
      <Tile
        label="Time to first content"
        value={known(total.first_content_ms.p50, duration)}
        note={`median · p95 ${known(total.first_content_ms.p95, duration)}`}
        spark={series.map(({ first_content_ms }) => first_content_ms.p50)}
        tone="two"
      />
      <Tile
        label="Output tokens"
        value={short(total.output_tokens)}
        note={`${short(total.input_tokens + total.cached_tokens)} in, ${percent(total.cached_tokens, total.input_tokens + total.cached_tokens)} cached`}
        spark={series.map(({ output_tokens }) => output_tokens)}
        tone="three"
      />
      <Tile
        label="Spend"
        value={money(total.cost_nano_usd)}
        note={month && `today ${money(sum(ofToday))} · month ${money(sum(month))}`}
        spark={series.map(({ cost_nano_usd }) => cost_nano_usd)}
      />
    </dl>
  );
};

function Charts({ data: { series, every_ms, total } }: { data: OverviewData }) {
  const times = series.map(({ at }) => Date.parse(at));
  const frame = { times, everyMs: every_ms };
  return (
    <div class="charts">
      <Chart
        {...frame}
        title="Calls"
        kind="bars"
        format={short}
        summary={`${counted(total.calls, "call")}, ${whole(total.failures)} failed.`}
        series={[
          { name: "answered", values: series.map(({ calls, failures }) => calls - failures), tone: "one" },
          { name: "failed", values: series.map(({ failures }) => failures), tone: "bad" },
        ]}
      />
      <Chart
        {...frame}
        title="Time to first content"
        kind="lines"
        format={duration}
        summary={`Median ${known(total.first_content_ms.p50, duration)}, p95 ${known(total.first_content_ms.p95, duration)}.`}
        series={[
          { name: "median", values: series.map(({ first_content_ms: { p50 } }) => p50), tone: "one" },
          { name: "p95", values: series.map(({ first_content_ms: { p95 } }) => p95), tone: "two" },
        ]}
      />
      <Chart
        {...frame}
        title="Tokens"
        kind="bars"
        format={short}
        summary={`${short(total.input_tokens)} in, ${short(total.cached_tokens)} cached, ${short(total.output_tokens)} out.`}
        series={[
          { name: "in", values: series.map(({ input_tokens }) => input_tokens), tone: "one" },
          { name: "cached", values: series.map(({ cached_tokens }) => cached_tokens), tone: "three" },
          { name: "out", values: series.map(({ output_tokens }) => output_tokens), tone: "two" },
        ]}
      />
      <Chart
        {...frame}
        title="Cost"
        kind="bars"
        format={money}
        summary={`${money(total.cost_nano_usd)} in total.`}
        series={[{ name: "cost", values: series.map(({ cost_nano_usd }) => cost_nano_usd), tone: "one" }]}
      />
    </div>
  );
}

/** Usage that the totals leave out because its price is unknown. */
function Unpriced({ uses }: { uses: OverviewData["unpriced"] }) {
  if (uses.length === 0) return null;
  return (
    <section class="panel" aria-label="Usage without a known price">
      <table class="top">
        <caption>Usage without a known price (not included in the totals)</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Model</th>
            <th scope="col">Key</th>
            <th scope="col" class="number">
              Calls
            </th>
          </tr>
        </thead>
        <tbody>
          {uses.map(({ name, produced_by, model, provider, key, calls, receipt }) => (
            <tr key={`${key} ${name} ${produced_by}`}>
              <th scope="row">
                <a href={`/calls/${receipt}`}>{name}</a>
              </th>
              <td>
                {model} via {provider}
              </td>
              <td>{nameOfKey(key)}</td>
              <td class="number">{whole(calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Overview() {
  const range = readRange(place.value.query, Date.now(), "1h");
  const window = range.name ?? "1h";
  const { data, error, reload } = useData(window, (abort) =>
    ask<{ data: OverviewData }>("/api/overview", { window }, abort),
  );
  const month = useData("month", monthOf);
  const refresh = useThrottled(() => {
    reload();
    month.reload();
  }, REFRESH_MS);
  useEffect(() => listenTo(({ type }) => type !== "call.committed" && refresh()), [refresh]);
  useEffect(() => {
    const turn = setInterval(refresh, 30_000);
    return () => clearInterval(turn);
  }, [refresh]);
  const overview = data?.data;
  return (
    <>
      <PageHead title="Overview">
        {overview && (
          <State kind={overview.status === "ready" ? "good" : overview.status === "degraded" ? "warn" : "bad"}>
            {overview.status}
          </State>
        )}
        <RangeChoice range={{ ...range, name: window }} />
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {overview === undefined ? (
        !error && <Waiting />
      ) : (
        <>
          {overview.reasons.length > 0 && (
            <ul class="reasons">
              {overview.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          )}
          <Unpriced uses={overview.unpriced} />
          <Tiles data={overview} month={month.data} />
          {overview.total.calls === 0 && (month.data?.length ?? 0) === 0 ? (
            <Empty title="No calls yet">
              <FirstCall />
            </Empty>
          ) : (
            <>
              <Charts data={overview} />
              <div class="tops">
                <TopTable title="Models" name="model" groups={overview.top.models} range={window} />
                <TopTable title="Providers" name="provider" groups={overview.top.providers} range={window} />
                <TopTable title="Keys" name="key" groups={overview.top.keys} range={window} />
              </div>
            </>
          )}
        </>
      )}
    </>
  );
}
