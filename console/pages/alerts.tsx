import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { Alert, AlertSettings, AlertTest, Page } from "../api/types.ts";
import { counted, duration } from "../format/numbers.ts";
import { ago, full, when } from "../format/time.ts";
import { Code, Empty, PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Pager } from "../parts/pager.tsx";
import { TwoLines } from "../parts/two-lines.tsx";
import { useData } from "../parts/use-data.ts";
import { place } from "../state/router.ts";

type Webhook = AlertSettings["webhooks"][number];
type Delivery = Alert["deliveries"][number];

const EXAMPLE = `alerts:
  webhooks:
    - url: \${ALERTS_URL}
      secret: \${ALERTS_SECRET}
  budget_percent: [50, 80, 100]`;

const STATES = {
  delivered: { kind: "good", name: "delivered" },
  pending: { kind: "warn", name: "retrying" },
  failed: { kind: "bad", name: "failed" },
} as const;

const Delivered = ({ delivery }: { delivery: Delivery }) => {
  const { state, tries, error } = delivery;
  const isNew = state === "pending" && tries === 0;
  return (
    <>
      <State kind={isNew ? "idle" : STATES[state].kind}>{isNew ? "queued" : STATES[state].name}</State>
      {tries > 1 && <span class="muted"> after {tries} attempts</span>}
      {state !== "delivered" && error !== null && <span class="muted"> {error}</span>}
    </>
  );
};

function useTest() {
  const [tested, setTested] = useState<AlertTest | Error | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const run = async (webhook?: string) => {
    setBusy(true);
    try {
      const body = webhook === undefined ? {} : { webhook };
      setTested((await change<{ data: AlertTest }>("POST", "/api/alerts/test", body)).data);
    } catch (thrown) {
      setTested(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setBusy(false);
    }
  };
  return { tested, busy, run };
}

const Tested = ({ tested }: { tested: AlertTest }) => (
  <div class="tested" role="status">
    {tested.map(({ webhook, ok, status, error, answer, ms }) => (
      <p key={webhook}>
        <State kind={ok ? "good" : "bad"}>{ok ? `returned ${status}` : (error ?? "failed")}</State> {webhook} in{" "}
        {duration(ms)} {answer !== "" && <code>{answer}</code>}
      </p>
    ))}
  </div>
);

const webhookColumns = (test: ((name: string) => void) | undefined, busy: boolean): Column<Webhook>[] => [
  {
    id: "name",
    title: "Name",
    cell: ({ name, address }) => <TwoLines of={name} below={<code>{address}/…</code>} title={`${name}: ${address}`} />,
  },
  {
    id: "last",
    title: "Last delivery",
    onPhone: "lead",
    cell: ({ last }) =>
      last === null ? (
        <span class="muted">none yet</span>
      ) : (
        <span title={last.error ?? undefined}>
          <Delivered delivery={last} />{" "}
          {last.tried_at !== null && (
            <span class="muted" title={full(last.tried_at)}>
              {ago(last.tried_at)}
            </span>
          )}
        </span>
      ),
  },
  {
    id: "events",
    title: "Events",
    room: 900,
    cell: ({ events }) => <span title={events?.join(", ")}>{events === null ? "all" : events.join(", ")}</span>,
  },
  { id: "signed", title: "Signed", cell: ({ signed }) => (signed ? "yes" : <State kind="warn">no</State>) },
  {
    id: "acts",
    title: "Actions",
    kind: "acts",
    cell: ({ name }) =>
      test !== undefined && (
        <button type="button" disabled={busy} onClick={() => test(name)} aria-label={`Send test to ${name}`}>
          Send test
        </button>
      ),
  },
];

function Webhooks({ webhooks }: { webhooks: readonly Webhook[] }) {
  const { tested, busy, run } = useTest();
  const mayTest = session.value?.role === "admin";
  return (
    <section class="group" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      {tested instanceof Error ? <Problem error={tested} /> : tested && <Tested tested={tested} />}
      <DataTable
        label="Webhooks"
        class="webhooks"
        rows={webhooks}
        keyOf={({ name }) => name}
        columns={webhookColumns(mayTest ? (name) => void run(name) : undefined, busy)}
      />
    </section>
  );
}

const Rules = ({ settings }: { settings: AlertSettings }) => {
  const { budget_percent, provider_down, gateway_degraded, retry_hours } = settings;
  const { error_percent, error_minutes, error_min_calls } = settings;
  const errors = `at least ${error_percent}% of calls fail in ${counted(error_minutes, "minute")} (minimum ${counted(error_min_calls, "call")})`;
  const conditions = [
    ...(budget_percent.length === 0
      ? []
      : [`a budget reaches ${budget_percent.map((percent) => `${percent}%`).join(", ")} (once per period)`]),
    ...(provider_down ? ["a provider goes down or recovers"] : []),
    ...(gateway_degraded ? ["the gateway is degraded or recovers"] : []),
    ...(error_percent > 0 ? [errors] : []),
  ];
  return (
    <p class="muted">
      {conditions.length === 0 ? "All alert rules are off." : `Sends an alert when ${conditions.join("; when ")}.`}{" "}
      Failed deliveries are retried for {counted(retry_hours, "hour")}. Change the rules in{" "}
      <a href="/config">the configuration</a>.
    </p>
  );
};

/** Resends one alert to one webhook. */
function useDeliver(done: () => void) {
  const [failed, setFailed] = useState<Error | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const run = async (id: string, webhook: string) => {
    setBusy(true);
    try {
      await change("POST", `/api/alerts/${encodeURIComponent(id)}/deliver`, { webhook });
      setFailed(undefined);
      done();
    } catch (thrown) {
      setFailed(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setBusy(false);
    }
  };
  return { failed, busy, run };
}

const againText = ({ state }: Delivery) => (state === "pending" ? "Retry now" : "Resend");

interface HistoryProps {
  alerts: readonly Alert[];
  /** Names of the webhooks that can receive a resend. */
  webhooks: readonly string[];
  reload: () => void;
}

function History({ alerts, webhooks, reload }: HistoryProps) {
  const { failed, busy, run } = useDeliver(reload);
  const mayDeliver = session.value?.role === "admin";
  const columns: Column<Alert>[] = [
    { id: "text", title: "Alert", cell: ({ text, type }) => <TwoLines of={text} below={type} title={text} /> },
    { id: "time", title: "Time", onPhone: "lead", cell: ({ at }) => <span title={full(at)}>{when(at)}</span> },
    {
      id: "delivery",
      title: "Delivery",
      cell: ({ id, type, at, deliveries }) => (
        <>
          {deliveries.length === 0 && <span class="muted">no webhook subscribed</span>}
          {deliveries.map((delivery) => (
            <div key={delivery.webhook} class="delivery">
              <span class="muted">{delivery.webhook}</span> <Delivered delivery={delivery} />{" "}
              {mayDeliver && webhooks.includes(delivery.webhook) && (
                <button
                  type="button"
                  class={delivery.state === "delivered" ? "quiet small" : "small"}
                  disabled={busy}
                  onClick={() => run(id, delivery.webhook)}
                  aria-label={`${againText(delivery)}: ${type}, ${full(at)}, to ${delivery.webhook}`}
                >
                  {againText(delivery)}
                </button>
              )}
            </div>
          ))}
        </>
      ),
    },
  ];
  return (
    <section class="group" aria-labelledby="history">
      <h2 id="history">History</h2>
      {failed && <Problem error={failed} />}
      <DataTable label="Alerts" class="alerts" rows={alerts} keyOf={({ id }) => id} columns={columns} />
    </section>
  );
}

const NoWebhooks = () => (
  <Empty title="No webhooks configured">
    <p>
      Trivium can call a webhook when a budget reaches 50, 80 or 100 percent, when a provider goes down or recovers,
      when half of the calls fail, and when the gateway is degraded. Add a URL to <code>trivium.yaml</code>; changes
      apply without a restart.
    </p>
    <Code text={EXAMPLE} />
    <p>
      Each alert is a JSON message signed with the secret. Its <code>text</code> field is a sentence that chat services
      can display.
    </p>
  </Empty>
);

export function Alerts() {
  const after = place.value.query.get("after") ?? undefined;
  const settings = useData("settings", (abort) => ask<{ data: AlertSettings }>("/api/alerts/settings", {}, abort));
  const { data, error, reload } = useData(`${after}`, (abort) =>
    ask<Page<Alert>>("/api/alerts", { limit: 100, after }, abort),
  );
  const problem = settings.error ?? error;
  const rules = settings.data?.data;
  const retry = () => {
    settings.reload();
    reload();
  };
  return (
    <>
      <PageHead title="Alerts">
        <button type="button" onClick={retry}>
          Refresh
        </button>
      </PageHead>
      {problem && <Problem error={problem} retry={retry} />}
      {rules === undefined || data === undefined ? (
        !problem && <Waiting />
      ) : (
        <>
          {rules.webhooks.length === 0 ? (
            <NoWebhooks />
          ) : (
            <>
              <Webhooks webhooks={rules.webhooks} />
              <Rules settings={rules} />
            </>
          )}
          {data.data.length > 0 ? (
            <History alerts={data.data} webhooks={rules.webhooks.map(({ name }) => name)} reload={retry} />
          ) : (
            rules.webhooks.length > 0 && (
              <Empty title="No alerts yet">
                <p>Alerts and their delivery status are listed here for 90 days.</p>
              </Empty>
            )
          )}
          <Pager page={data} of="alerts" />
        </>
      )}
    </>
  );
}
