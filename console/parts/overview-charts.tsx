import type { Overview } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, duration, known, short, whole } from "../format/numbers.ts";
import { Chart } from "./chart.tsx";

interface OverviewChartsProps {
  data: Overview;
  /** The reader dragged over a span of time. */
  onSpan: (fromMs: number, toMs: number) => void;
}

/** One large chart of the calls, and smaller ones of what they took. Times break where nothing was measured. */
export function OverviewCharts({ data: { series, every_ms, total }, onSpan }: OverviewChartsProps) {
  const frame = { times: series.map(({ at }) => Date.parse(at)), everyMs: every_ms, onSpan };
  return (
    <div class="watch-charts">
      <Chart
        {...frame}
        title="Calls"
        kind="bars"
        height={210}
        unit="count"
        summary={`${counted(total.calls, "call")}, ${whole(total.failures)} failed.`}
        series={[
          { name: "answered", values: series.map(({ calls, failures }) => calls - failures), tone: "one" },
          { name: "failed", values: series.map(({ failures }) => failures), tone: "bad" },
        ]}
      />
      <Chart
        {...frame}
        title="First content"
        kind="lines"
        height={140}
        unit="time"
        summary={`Median ${known(total.first_content_ms.p50, duration)}, p95 ${known(total.first_content_ms.p95, duration)}.`}
        series={[
          { name: "median", values: series.map(({ first_content_ms: { p50 } }) => p50), tone: "one" },
          { name: "p95", values: series.map(({ first_content_ms: { p95 } }) => p95), tone: "two" },
        ]}
      />
      <Chart
        {...frame}
        title="Cost"
        kind="bars"
        height={140}
        unit="money"
        summary={`${money(total.cost_nano_usd)} in total.`}
        series={[{ name: "cost", values: series.map(({ cost_nano_usd }) => cost_nano_usd), tone: "one" }]}
      />
      <Chart
        {...frame}
        title="Tokens"
        kind="bars"
        height={140}
        unit="count"
        summary={`${short(total.input_tokens)} in, ${short(total.cached_tokens)} cached, ${short(total.output_tokens)} out.`}
        series={[
          { name: "in", values: series.map(({ input_tokens }) => input_tokens), tone: "one" },
          { name: "cached", values: series.map(({ cached_tokens }) => cached_tokens), tone: "three" },
          { name: "out", values: series.map(({ output_tokens }) => output_tokens), tone: "two" },
        ]}
      />
    </div>
  );
}
