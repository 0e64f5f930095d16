import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { Alert, AlertSettings, AlertTest, Page } from "../api/types.ts";
import { counted, duration } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { Code, Empty, PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
import { Pager } from "../parts/pager.tsx";
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
      {state !== "delivered" && error !== null && <span class="muted block">{error}</span>}
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

function Webhooks({ webhooks }: { webhooks: readonly Webhook[] }) {
  const { tested, busy, run } = useTest();
  const mayTest = session.value?.role === "admin";
  return (
    <section class="group" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      {tested instanceof Error ? <Problem error={tested} /> : tested && <Tested tested={tested} />}
      <section class="wide" tabIndex={0} aria-label="Webhooks table">
        <table class="list webhooks">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">URL</th>
              <th scope="col">Events</th>
              <th scope="col">Signed</th>
              <th scope="col">Last delivery</th>
              {mayTest && (
                <th scope="col">
                  <span class="unseen">Test</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {webhooks.map(({ name, address, signed, events, last }) => (
              <tr key={name}>
                <th scope="row" class="name">
                  {name}
                </th>
                <td>
                  <code>{address}/…</code>
                </td>
                <td>{events === null ? "all" : events.join(", ")}</td>
                <td>{signed ? "yes" : <State kind="warn">no</State>}</td>
                <td>
                  {last === null ? (
                    <span class="muted">none yet</span>
                  ) : (
                    <>
                      <Delivered delivery={last} />{" "}
                      <span class="muted">{last.tried_at === null ? "" : full(last.tried_at)}</span>
                    </>
                  )}
                </td>
                {mayTest && (
                  <td class="acts">
                    <button type="button" disabled={busy} onClick={() => run(name)} aria-label={`Send test to ${name}`}>
                      Send test
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
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
  return (
    <section class="group" aria-labelledby="history">
      <h2 id="history">History</h2>
      {failed && <Problem error={failed} />}
      <section class="wide" tabIndex={0} aria-label="Alerts table">
        <table class="list alerts">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Event</th>
              <th scope="col">Message</th>
              <th scope="col">Delivery</th>
            </tr>
          </thead>
          <tbody>
            {alerts.map(({ id, type, at, text, deliveries }) => (
              <tr key={id}>
                <td class="time">{full(at)}</td>
                <td class="name">{type}</td>
                <td>{text}</td>
                <td>
                  {deliveries.length === 0 && <span class="muted">no webhook subscribed</span>}
                  {deliveries.map((delivery) => (
                    <div key={delivery.webhook} class="delivery">
                      <span class="muted">{delivery.webhook}</span> <Delivered delivery={delivery} />{" "}
                      {mayDeliver && webhooks.includes(delivery.webhook) && (
                        <button
                          type="button"
                          class="small"
                          disabled={busy}
                          onClick={() => run(id, delivery.webhook)}
                          aria-label={`${againText(delivery)}: ${type}, ${full(at)}, to ${delivery.webhook}`}
                        >
                          {againText(delivery)}
                        </button>
                      )}
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
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
