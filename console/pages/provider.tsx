import { useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { ProviderHealth, ProviderHistory, ProvidersAnswer, UsageRow } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, decimal, duration, known, percent, short } from "../format/numbers.ts";
import { ago, full, when } from "../format/time.ts";
import { Empty, PageHead, Problem, State, words } from "../parts/basics.tsx";
import { Chart } from "../parts/chart.tsx";
import { Credentials, ModelsOfProvider } from "../parts/credentials.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { TestButton, TestedProvider, useProviderTests } from "../parts/provider-test.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { currentWindow, WindowChoice } from "../parts/window-choice.tsx";
import { modelPath } from "../state/catalogue-lists.ts";
import { listenTo } from "../state/events.ts";
import { writeFilter } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { providerState } from "../state/provider-state.ts";
import { type RangeName, rangeQuery, readRange } from "../state/range.ts";
import { goTo, nameInPath } from "../state/router.ts";

const REFRESH_MS = 10_000;
const MOST_KEYS = 10;

interface About {
  answer: ProvidersAnswer;
  provider: ProviderHealth | undefined;
  history: ProviderHistory | undefined;
  keys: UsageRow[];
  models: UsageRow[];
}

async function load(name: string, window: RangeName, abort: AbortSignal): Promise<About> {
  const answer = await ask<ProvidersAnswer>("/api/providers", { window }, abort);
  const provider = answer.data.find((one) => one.provider === name);
  if (provider === undefined) return { answer, provider, history: undefined, keys: [], models: [] };
  const range = rangeQuery(readRange(new URLSearchParams({ range: window }), Date.now()));
  const sums = (by: string) =>
    ask<{ data: UsageRow[] }>("/api/usage", { by, provider: name, ...range }, abort).then(({ data }) => data);
  const [history, keys, models] = await Promise.all([
    ask<{ data: ProviderHistory }>(`/api/providers/${encodeURIComponent(name)}/history`, { window }, abort),
    sums("key"),
    sums("model"),
  ]);
  return { answer, provider, history: history.data, keys, models };
}

function StateLine({ provider }: { provider: ProviderHealth }) {
  const { kind, name } = providerState(provider);
  const { since, until, last_success_at: success, host, traits, models_served } = provider;
  return (
    <p class="lead">
      <State kind={kind}>{name}</State>
      {since !== null && <span title={full(since)}>since {when(since)}</span>}
      {until !== null && <span>next try {ago(until)}</span>}
      <span class="muted">{success === null ? "no answer yet" : `last answer ${ago(success)}`}</span>
      <span class="muted">
        {provider.kind}
        {host !== null && ` at ${host}`}
      </span>
      {traits !== null &&
        Object.entries(traits).map(([trait, value]) => (
          <span key={trait} class="muted">
            {trait} {String(value)}
          </span>
        ))}
      <a href={`/models?${new URLSearchParams({ provider: provider.provider })}`}>{counted(models_served, "model")}</a>
    </p>
  );
}

const LastError = ({ error }: { error: NonNullable<ProviderHealth["last_error"]> }) => (
  <section class="panel last-error" aria-label="Last error">
    <h2>
      Last error{" "}
      <span class="muted">{[words(error.kind), error.status].filter((part) => part !== null).join(", ")}</span>{" "}
      <time class="muted" title={full(error.at)}>
        {ago(error.at)}
      </time>
    </h2>
    <pre tabIndex={0}>{error.text || "The provider said nothing."}</pre>
  </section>
);

function Figures({ provider, window }: { provider: ProviderHealth; window: RangeName }) {
  const { measured, provider: name } = provider;
  const first = measured?.first_content_ms;
  return (
    <dl class="tiles supply-tiles">
      <div class="tile">
        <dt>Attempts</dt>
        <dd>
          <strong>{measured === null ? "0" : short(measured.calls)}</strong>
          <span>
            <a href={callsWith({ provider: name }, window)}>View calls</a>
          </span>
        </dd>
      </div>
      <div class="tile">
        <dt>Failed</dt>
        <dd>
          <strong>{measured === null ? "–" : percent(measured.failures, measured.calls)}</strong>
          <span>
            {measured === null || measured.failures === 0 ? (
              <span class="muted">no failed attempts</span>
            ) : (
              <a href={callsWith({ provider: name, outcome: "failed" }, window)}>View failed calls</a>
            )}
          </span>
        </dd>
      </div>
      <div class="tile">
        <dt>First content</dt>
        <dd>
          <strong>{known(first?.p50 ?? null, duration)}</strong>
          <span class="muted">p95 {known(first?.p95 ?? null, duration)}</span>
        </dd>
      </div>
      <div class="tile">
        <dt>Output speed</dt>
        <dd>
          <strong>{known(measured?.tokens_per_second ?? null, decimal)}</strong>
          <span class="muted">tokens per second</span>
        </dd>
      </div>
    </dl>
  );
}

function Charts({ name, history }: { name: string; history: ProviderHistory }) {
  const { series, every_ms: everyMs, most_receipts } = history;
  const times = series.map(({ at }) => Date.parse(at));
  const of = (value: (measured: NonNullable<(typeof series)[number]["measured"]>) => number | null) =>
    series.map(({ measured }) => (measured === null ? null : value(measured)));
  const span: [number, number] = [Date.parse(history.from), Date.parse(history.to)];
  const open = (fromMs: number, toMs: number) =>
    goTo(
      `/calls?${new URLSearchParams({
        q: writeFilter({ provider: name }),
        from: new Date(fromMs).toISOString(),
        to: new Date(Math.max(toMs, fromMs + 60_000)).toISOString(),
      })}`,
    );
  const common = { times, everyMs, span, onSpan: open };
  const isSampled = series.some(({ sampled }) => sampled);
  return (
    <div class="supply-charts">
      <Chart
        {...common}
        title="First content"
        kind="lines"
        height={200}
        unit="time"
        summary="The median and the 95th percentile of the time to the first content of its attempts."
        series={[
          { name: "p50", values: of(({ first_content_ms }) => first_content_ms.p50), tone: "one" },
          { name: "p95", values: of(({ first_content_ms }) => first_content_ms.p95), tone: "two" },
        ]}
      />
      <Chart
        {...common}
        title="Attempts"
        kind="bars"
        height={112}
        unit="count"
        summary="Attempts that it answered and that failed. Drag over a part to see its calls."
        series={[
          { name: "answered", values: of(({ calls, failures }) => calls - failures), tone: "one" },
          { name: "failed", values: of(({ failures }) => failures), tone: "bad" },
        ]}
      />
      <p class="muted small">
        Drag over a part of a chart to see its calls.
        {isSampled && ` Busy parts show only the newest ${short(most_receipts)} calls of the gateway.`}
      </p>
    </div>
  );
}

const sharesOf = (
  name: "key" | "model",
  provider: string,
  window: RangeName,
  shown: (group: string) => string,
): Column<UsageRow>[] => [
  {
    id: name,
    title: name === "key" ? "Key" : "Model",
    cell: ({ group }) => (
      <a href={name === "key" ? `/keys/${encodeURIComponent(group)}` : modelPath(group)} title={shown(group)}>
        {shown(group) || "(none)"}
      </a>
    ),
  },
  {
    id: "calls",
    title: "Calls",
    kind: "number",
    cell: ({ group, calls }) => <a href={callsWith({ provider, [name]: group }, window)}>{short(calls)}</a>,
  },
  {
    id: "failed",
    title: "Failed",
    kind: "number",
    cell: ({ group, calls, failures }) =>
      failures === 0 ? (
        <span class="muted">0%</span>
      ) : (
        <a class="failed" href={callsWith({ provider, [name]: group, outcome: "failed" }, window)}>
          {percent(failures, calls)}
        </a>
      ),
  },
  {
    id: "cost",
    title: "Cost",
    kind: "number",
    onPhone: "lead",
    cell: ({ cost_nano_usd }) => money(cost_nano_usd),
  },
];

function Shares({
  title,
  name,
  rows,
  provider,
  window,
}: {
  title: string;
  name: "key" | "model";
  rows: readonly UsageRow[];
  provider: string;
  window: RangeName;
}) {
  const shown = rows.toSorted((one, other) => other.calls - one.calls).slice(0, MOST_KEYS);
  return (
    <section>
      <h2 class="over">{title}</h2>
      {shown.length === 0 ? (
        <p class="muted">No calls in this time range.</p>
      ) : (
        <DataTable
          label={title}
          rows={shown}
          keyOf={({ group }) => group}
          columns={sharesOf(name, provider, window, name === "key" ? nameOfKey : (group) => group)}
        />
      )}
      {rows.length > shown.length && (
        <p class="muted small below">
          {rows.length - shown.length} more in{" "}
          <a href={`/usage?${new URLSearchParams({ by: name, q: writeFilter({ provider }), range: window })}`}>Usage</a>
        </p>
      )}
    </section>
  );
}

export function OneProvider() {
  const name = nameInPath("/providers/");
  const window = currentWindow("24h");
  const loaded = useData(`${name} ${window}`, (abort) => load(name, window, abort));
  const refresh = useThrottled(loaded.reload, REFRESH_MS);
  useEffect(() => listenTo(({ type }) => (type === "health" || type === "call.ended") && refresh()), [refresh]);
  const test = useProviderTests()(name);
  return (
    <>
      <p class="crumb">
        <a href={`/providers?range=${window}`}>
          <Icon name="back" size={15} /> Providers
        </a>
      </p>
      <PageHead title={name}>
        <WindowChoice window={window} />
        <TestButton provider={name} test={test} />
      </PageHead>
      <Loaded of={loaded}>
        {({ answer, provider, history, keys, models }) =>
          provider === undefined ? (
            <Empty title="No such provider">
              <p>
                The configuration has no provider of this name. Its past calls remain:{" "}
                <a href={callsWith({ provider: name }, "30d")}>calls of the last 30 days</a>.
              </p>
            </Empty>
          ) : (
            <>
              <StateLine provider={provider} />
              {test.result !== undefined && <TestedProvider result={test.result} />}
              {provider.last_error !== null && <LastError error={provider.last_error} />}
              <Figures provider={provider} window={window} />
              {history === undefined ? (
                <Problem error={new Error("Its history could not be read.")} />
              ) : (
                <Charts name={name} history={history} />
              )}
              <div class="pair">
                <Shares title="Who uses it" name="key" rows={keys} provider={name} window={window} />
                <Shares title="Models called" name="model" rows={models} provider={name} window={window} />
              </div>
              <Credentials provider={provider} />
              <ModelsOfProvider provider={provider} />
              <p class="muted small below">
                Attempts are those of all processes since {when(answer.measured.from)}, also where another provider
                answered in the end. States, errors and limits are what the process <code>{answer.health_of}</code> has
                seen since its start.
              </p>
            </>
          )
        }
      </Loaded>
    </>
  );
}
