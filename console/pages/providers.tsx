import { useEffect, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { ProviderHealth, ProvidersAnswer } from "../api/types.ts";
import { decimal, duration, known, percent, short, whole } from "../format/numbers.ts";
import { ago, full, when } from "../format/time.ts";
import { AddProvider } from "../parts/add-provider.tsx";
import { Empty, PageHead, State, words } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { TestButton, TestedProvider, useProviderTests } from "../parts/provider-test.tsx";
import { Said } from "../parts/said.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { currentWindow, WindowChoice } from "../parts/window-choice.tsx";
import { listenTo } from "../state/events.ts";
import { byTrouble, healthyOf, providerState } from "../state/provider-state.ts";
import type { RangeName } from "../state/range.ts";

const REFRESH_MS = 4_000;

const pathOf = (provider: string, window: RangeName): string =>
  `/providers/${encodeURIComponent(provider)}?range=${window}`;

function columnsOf(window: RangeName, tests: ReturnType<typeof useProviderTests>): Column<ProviderHealth>[] {
  return [
    {
      id: "provider",
      title: "Provider",
      sortBy: ({ provider }) => provider,
      cell: ({ provider, kind, host }) => (
        <span class="two-lines">
          <a href={pathOf(provider, window)}>{provider}</a>
          <small>{host ?? kind}</small>
        </span>
      ),
    },
    {
      id: "state",
      title: "State",
      onPhone: "lead",
      cell: (one) => {
        const { kind, name } = providerState(one);
        return (
          <span class="two-lines">
            <State kind={kind}>{name}</State>
            {one.since !== null && <small title={full(one.since)}>since {when(one.since)}</small>}
          </span>
        );
      },
    },
    {
      id: "error",
      title: "Last error",
      cell: ({ last_error }) =>
        last_error === null ? (
          <span class="muted">none</span>
        ) : (
          <span class="two-lines" title={last_error.text}>
            <span class="cut">
              <Said text={last_error.text || words(last_error.kind)} />
            </span>
            <small title={full(last_error.at)}>
              {last_error.status ?? words(last_error.kind)}, {ago(last_error.at)}
            </small>
          </span>
        ),
    },
    {
      id: "calls",
      title: "Attempts",
      kind: "number",
      sortBy: ({ measured }) => measured?.calls ?? null,
      cell: ({ provider, measured }) =>
        measured === null ? "–" : <a href={callsWith({ provider }, window)}>{short(measured.calls)}</a>,
    },
    {
      id: "failures",
      title: "Failed",
      kind: "number",
      sortBy: ({ measured }) => (measured === null ? null : measured.failures / measured.calls),
      cell: ({ provider, measured }) =>
        measured === null ? (
          "–"
        ) : measured.failures === 0 ? (
          <span class="muted">0%</span>
        ) : (
          <a
            class="failed"
            href={callsWith({ provider, outcome: "failed" }, window)}
            title={`${whole(measured.failures)} failed attempts; calls that another provider answered did not fail`}
          >
            {percent(measured.failures, measured.calls)}
          </a>
        ),
    },
    {
      id: "p50",
      title: "First content",
      kind: "number",
      sortBy: ({ measured }) => measured?.first_content_ms.p50 ?? null,
      cell: ({ measured }) => known(measured?.first_content_ms.p50 ?? null, duration),
    },
    {
      id: "p95",
      title: "p95",
      room: 900,
      kind: "number",
      sortBy: ({ measured }) => measured?.first_content_ms.p95 ?? null,
      cell: ({ measured }) => known(measured?.first_content_ms.p95 ?? null, duration),
    },
    {
      id: "speed",
      title: "Tokens/s",
      room: 1100,
      kind: "number",
      sortBy: ({ measured }) => measured?.tokens_per_second ?? null,
      cell: ({ measured }) => known(measured?.tokens_per_second ?? null, decimal),
    },
    {
      id: "credentials",
      title: "Credentials",
      room: 900,
      cell: (one) => {
        const [healthy, all] = [healthyOf(one), one.credentials.length];
        return <span class={healthy < all ? "failed" : "muted"}>{`${healthy} of ${all} healthy`}</span>;
      },
    },
    {
      id: "models",
      title: "Models",
      room: 1100,
      kind: "number",
      sortBy: ({ models_served }) => models_served,
      cell: ({ provider, models_served }) => (
        <a href={`/models?${new URLSearchParams({ provider })}`}>{whole(models_served)}</a>
      ),
    },
    {
      id: "acts",
      title: "Actions",
      kind: "acts",
      cell: ({ provider }) => <TestButton provider={provider} test={tests(provider)} />,
    },
  ];
}

/** What needs attention, in one sentence. */
function Trouble({ providers }: { providers: readonly ProviderHealth[] }) {
  const down = providers.filter(({ state }) => state !== null && state !== "closed");
  const [first] = down;
  if (first === undefined) return null;
  const since = first.since === null ? "" : ` since ${when(first.since)}`;
  return (
    <p class="reasons" role="status">
      <Said
        text={
          down.length === 1
            ? `${first.provider} is unavailable${since}. ${first.last_error?.text ?? ""}`
            : `${down.length} of ${providers.length} providers are unavailable: ${down.map(({ provider }) => provider).join(", ")}.`
        }
      />
    </p>
  );
}

function Table({ answer, window }: { answer: ProvidersAnswer; window: RangeName }) {
  const tests = useProviderTests();
  const columns = columnsOf(window, tests);
  return (
    <>
      <Trouble providers={answer.data} />
      <DataTable
        label="Providers"
        class="supply"
        rows={answer.data.toSorted(byTrouble)}
        keyOf={({ provider }) => provider}
        columns={columns}
        addressOf={({ provider }) => pathOf(provider, window)}
        inner={({ provider }) => {
          const { result } = tests(provider);
          return result === undefined ? null : (
            <tr class="inner">
              <td colSpan={columns.length}>
                <TestedProvider result={result} />
              </td>
            </tr>
          );
        }}
      />
      <p class="muted small below">
        Attempts, failures and speeds are those of all processes since {when(answer.measured.from)}. States, errors and
        limits are what the process <code>{answer.health_of}</code> has seen. Providers are defined in{" "}
        <a href="/config">the configuration</a>; a test call is billed like any other call.
      </p>
    </>
  );
}

export function Providers() {
  const window = currentWindow("1h");
  const loaded = useData(`providers ${window}`, (abort) => ask<ProvidersAnswer>("/api/providers", { window }, abort));
  const refresh = useThrottled(loaded.reload, REFRESH_MS);
  useEffect(() => listenTo(({ type }) => (type === "health" || type === "call.ended") && refresh()), [refresh]);
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHead title="Providers">
        <WindowChoice window={window} />
        {session.value?.role === "admin" && (
          <button type="button" class="main" onClick={() => setAdding(true)}>
            Add provider
          </button>
        )}
      </PageHead>
      {isAdding && <AddProvider onClose={() => setAdding(false)} />}
      <Loaded of={loaded}>
        {(answer) =>
          answer.data.length === 0 ? (
            <Empty title="No providers">
              <p>
                Set an environment variable such as <code>OPENAI_API_KEY</code> and restart, or list accounts under{" "}
                <code>providers</code> in <code>trivium.yaml</code>. <code>trivium init</code> can write the file for
                you.
              </p>
            </Empty>
          ) : (
            <Table answer={answer} window={window} />
          )
        }
      </Loaded>
    </>
  );
}
