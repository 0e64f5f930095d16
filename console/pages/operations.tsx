import { useEffect, useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { OperationItem, Page } from "../api/types.ts";
import { money } from "../format/money.ts";
import { known } from "../format/numbers.ts";
import { ago, full } from "../format/time.ts";
import { Choice, Empty, PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { listenTo } from "../state/events.ts";
import { nameOfKey } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";

const KINDS = { submitting: "idle", running: "warn", done: "good", failed: "bad" } as const;
const STATES = ["all", "running", "done", "failed"] as const;

function Row({ item, onCancelled }: { item: OperationItem; onCancelled: (error?: Error) => void }) {
  const [busy, setBusy] = useState(false);
  const isOpen = item.state === "running" || item.state === "submitting";
  const cancel = async () => {
    setBusy(true);
    await change("POST", `/api/operations/${encodeURIComponent(item.id)}/cancel`).then(
      () => onCancelled(),
      (error: Error) => onCancelled(error),
    );
    setBusy(false);
  };
  return (
    <tr>
      <td title={full(item.created_at)}>
        <a href={`/calls/${item.receipt}`}>{ago(item.created_at)}</a>
      </td>
      <td>
        <State kind={KINDS[item.state]}>{item.cancelled && isOpen ? "cancelling" : item.state}</State>
      </td>
      <td>{item.kind === "video" ? "video" : "response"}</td>
      <td class="name">{item.model}</td>
      <td class="name muted">{item.provider ?? "–"}</td>
      <td class="name">{nameOfKey(item.key)}</td>
      <td class="number">
        {item.progress === null ? (
          "–"
        ) : (
          <>
            {Math.round(item.progress)}%
            <meter class="bar" min={0} max={100} value={item.progress} aria-hidden="true" />
          </>
        )}
      </td>
      <td class="number">{known(item.expected_cost_nano_usd, money)}</td>
      <td>
        {item.error !== null ? (
          <span class="failed">{item.error.message}</span>
        ) : item.next_poll_at !== null ? (
          <span class="muted">next poll {ago(item.next_poll_at)}</span>
        ) : item.expires_at !== null ? (
          <span class="muted">expires {full(item.expires_at)}</span>
        ) : (
          ""
        )}
      </td>
      <td class="acts">
        {isOpen && !item.cancelled && session.value?.role === "admin" && (
          <button type="button" class="quiet danger" disabled={busy} onClick={cancel} aria-label={`Cancel ${item.id}`}>
            Cancel
          </button>
        )}
      </td>
    </tr>
  );
}

export function Operations() {
  const state = STATES.find((name) => name === place.value.query.get("state")) ?? "all";
  const [problem, setProblem] = useState<Error | undefined>(undefined);
  const { data, error, reload } = useData(state, (abort) =>
    ask<Page<OperationItem>>("/api/operations", { limit: 100, state: state === "all" ? undefined : state }, abort),
  );
  const refresh = useThrottled(reload, 1_000);
  useEffect(() => listenTo(({ type }) => type === "operation" && refresh()), [refresh]);
  useEffect(() => {
    const turn = setInterval(refresh, 10_000);
    return () => clearInterval(turn);
  }, [refresh]);
  const failed = problem ?? error;
  return (
    <>
      <PageHead title="Operations">
        <Choice
          label="Status"
          value={state}
          options={STATES.map((name) => ({ value: name, name }))}
          onChange={(name) => setQuery({ state: name === "all" ? undefined : name })}
        />
      </PageHead>
      {failed && <Problem error={failed} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        <Empty title="No operations">
          <p>
            Videos, and responses with <code>background: true</code>, run asynchronously. They are listed here from
            submission until they expire.
          </p>
        </Empty>
      ) : (
        <section class="wide" tabIndex={0} aria-label="Operations table">
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Started</th>
                <th scope="col">Status</th>
                <th scope="col">Kind</th>
                <th scope="col">Model</th>
                <th scope="col">Provider</th>
                <th scope="col">Key</th>
                <th scope="col" class="number">
                  Progress
                </th>
                <th scope="col" class="number">
                  Expected cost
                </th>
                <th scope="col">Details</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.data.map((item) => (
                <Row
                  key={item.id}
                  item={item}
                  onCancelled={(thrown) => {
                    setProblem(thrown);
                    reload();
                  }}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
