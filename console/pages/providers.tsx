import { useEffect, useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ProviderHealth, ProviderTest, UsageRow } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, decimal, duration, known, percent } from "../format/numbers.ts";
import { AddProvider } from "../parts/add-provider.tsx";
import { Empty, PageHead, Problem, State, Waiting, words } from "../parts/basics.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { listenTo } from "../state/events.ts";

type Credential = ProviderHealth["credentials"][number];

const STATES = {
  closed: { kind: "good", name: "healthy" },
  half_open: { kind: "warn", name: "probing" },
  open: { kind: "bad", name: "unavailable" },
} as const;

/** The worst state of any of its models. */
function statusOf({ credentials }: ProviderHealth): { kind: "good" | "warn" | "bad" | "idle"; name: string } {
  const models = credentials.flatMap((credential) => credential.models);
  if (models.length === 0) return { kind: "idle", name: "no calls since startup" };
  const open = models.filter(({ state }) => state === "open").length;
  if (open === models.length) return { kind: "bad", name: "unavailable" };
  if (open > 0 || models.some(({ state, quiet_ms }) => state === "half_open" || quiet_ms > 0))
    return { kind: "warn", name: "degraded" };
  return { kind: "good", name: "healthy" };
}

const Models = ({ credential }: { credential: Credential }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">{credential.label === null ? "Model" : `Model (credential ${credential.label})`}</th>
        <th scope="col">Status</th>
        <th scope="col" class="number">
          First content
        </th>
        <th scope="col" class="number">
          p95
        </th>
        <th scope="col" class="number">
          Tok/s
        </th>
      </tr>
    </thead>
    <tbody>
      {credential.models.map(
        ({ model, state, quiet_ms, first_content_ms, p95_first_content_ms, tokens_per_second }) => (
          <tr key={model}>
            <th scope="row" class="name">
              {model}
            </th>
            <td>
              <State kind={STATES[state].kind}>
                {quiet_ms > 0 ? `paused for ${duration(quiet_ms)}` : STATES[state].name}
              </State>
            </td>
            <td class="number">{known(first_content_ms, duration)}</td>
            <td class="number">{known(p95_first_content_ms, duration)}</td>
            <td class="number">{known(tokens_per_second, decimal)}</td>
          </tr>
        ),
      )}
    </tbody>
  </table>
);

function Tested({ test }: { test: ProviderTest }) {
  return (
    <div class="tested" role="status">
      {test.credentials.map(({ label, host, state, detail }) => (
        <p key={label ?? host}>
          <State kind={state === "ok" ? "good" : state === "unchecked" ? "idle" : "bad"}>{words(state)}</State>{" "}
          {label ?? "credential"} at <code>{host}</code> <span class="muted">{detail}</span>
        </p>
      ))}
      {test.call === null ? (
        <p class="muted">No model is available for a test call.</p>
      ) : (
        <p>
          <State kind={test.call.ok ? "good" : "bad"}>
            {test.call.ok ? "answered" : words(test.call.error?.kind ?? "failed")}
          </State>{" "}
          {test.call.model} in {duration(test.call.ms)}{" "}
          {test.call.receipt !== null && <a href={`/calls/${test.call.receipt}`}>View call</a>}
          {test.call.error !== null && <span class="muted block">{test.call.error.message}</span>}
        </p>
      )}
    </div>
  );
}

function Card({ provider, sums }: { provider: ProviderHealth; sums: readonly UsageRow[] }) {
  const [test, setTest] = useState<ProviderTest | Error | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const status = statusOf(provider);
  const name = provider.provider;
  const own = sums.find(({ group }) => group === name);
  const run = async () => {
    setBusy(true);
    try {
      setTest((await change<{ data: ProviderTest }>("POST", `/api/providers/${encodeURIComponent(name)}/test`)).data);
    } catch (thrown) {
      setTest(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="panel card" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <State kind={status.kind}>{status.name}</State>
        {session.value?.role === "admin" && (
          <button
            type="button"
            disabled={busy}
            onClick={run}
            title="Checks each credential and makes one call of at most 16 tokens"
          >
            {busy ? "Testing…" : "Test"}
          </button>
        )}
      </header>
      <p class="muted">
        {own === undefined ? (
          "No calls in the last 24 hours"
        ) : (
          <>
            <a href={callsWith({ provider: name }, "24h")}>{counted(own.calls, "call")}</a> in the last 24 hours,{" "}
            {percent(own.failures, own.calls)} failed, {money(own.cost_nano_usd)}
          </>
        )}
        {provider.credentials.length > 1 && ` · ${provider.credentials.length} credentials`}
      </p>
      {test instanceof Error ? <Problem error={test} /> : test && <Tested test={test} />}
      {provider.credentials
        .filter(({ models }) => models.length > 0)
        .map((credential) => (
          <Models key={credential.label ?? ""} credential={credential} />
        ))}
    </section>
  );
}

export function Providers() {
  const { data, error, reload } = useData("providers", (abort) =>
    ask<{ data: ProviderHealth[] }>("/api/providers", {}, abort),
  );
  const sums = useData("sums", (abort) => ask<{ data: UsageRow[] }>("/api/usage", { by: "provider", days: 1 }, abort));
  const refresh = useThrottled(() => {
    reload();
    sums.reload();
  }, 2_000);
  useEffect(() => listenTo(({ type }) => (type === "health" || type === "call.ended") && refresh()), [refresh]);
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHead title="Providers">
        {session.value?.role === "admin" && (
          <button type="button" class="main" onClick={() => setAdding(true)}>
            Add provider
          </button>
        )}
      </PageHead>
      {isAdding && <AddProvider onClose={() => setAdding(false)} />}
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        <Empty title="No providers">
          <p>
            Set an environment variable such as <code>OPENAI_API_KEY</code> and restart, or list accounts under{" "}
            <code>providers</code> in <code>trivium.yaml</code>. <code>trivium init</code> can write the file for you.
          </p>
        </Empty>
      ) : (
        <>
          <div class="cards">
            {data.data.map((provider) => (
              <Card key={provider.provider} provider={provider} sums={sums.data?.data ?? []} />
            ))}
          </div>
          <p class="muted small">
            Providers are defined in <a href="/config">the configuration</a>; changes apply without a restart. A test
            call is billed like any other call.
          </p>
        </>
      )}
    </>
  );
}
