import { useEffect, useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { OperationItem, Page } from "../api/types.ts";
import { money } from "../format/money.ts";
import { known } from "../format/numbers.ts";
import { ago, full } from "../format/time.ts";
import { Choice, Empty, PageHead, State } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Pager } from "../parts/pager.tsx";
import { TwoLines } from "../parts/two-lines.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { listenTo } from "../state/events.ts";
import { nameOfKey } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";

const KINDS = { submitting: "idle", running: "warn", done: "good", failed: "bad" } as const;
const STATES = ["all", "running", "done", "failed"] as const;
const PAGE_SIZE = 100;

const isOpen = ({ state }: OperationItem): boolean => state === "running" || state === "submitting";

function CancelOperation({ item, onDone, onClose }: { item: OperationItem; onDone: () => void; onClose: () => void }) {
  const { submit, error, busy } = useSending(
    () => change("POST", `/api/operations/${encodeURIComponent(item.id)}/cancel`),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title="Cancel operation" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          The {nounOf(item)} of <strong>{item.model}</strong> by the key {nameOfKey(item.key)} will be cancelled, at its
          provider as well if that is possible. What has been produced is billed.
        </p>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Keep it
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            Cancel operation
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const nounOf = ({ kind }: Pick<OperationItem, "kind">): string => (kind === "video" ? "video" : "response");

const Progress = ({ progress }: { progress: number | null }) =>
  progress === null ? (
    <>–</>
  ) : (
    <>
      {Math.round(progress)}%
      <meter class="bar" min={0} max={100} value={progress} aria-hidden="true" />
    </>
  );

function Details({ error, next_poll_at, expires_at }: OperationItem) {
  if (error !== null)
    return (
      <span class="failed" title={error.message}>
        {error.message}
      </span>
    );
  if (next_poll_at !== null) return <span class="muted">next poll {ago(next_poll_at)}</span>;
  return expires_at === null ? null : <span class="muted">expires {ago(expires_at)}</span>;
}

const columns = (onCancel: ((item: OperationItem) => void) | undefined): Column<OperationItem>[] => [
  {
    id: "model",
    title: "Model",
    cell: (item) => (
      <TwoLines
        of={
          // A receipt is written when the operation ends.
          isOpen(item) ? item.model : <a href={`/calls/${encodeURIComponent(item.receipt)}`}>{item.model}</a>
        }
        below={item.provider ?? "no provider yet"}
        title={`${item.model} at ${item.provider ?? "no provider yet"}`}
      />
    ),
  },
  {
    id: "state",
    title: "Status",
    onPhone: "lead",
    cell: (item) => (
      <State kind={KINDS[item.state]}>{item.cancelled && isOpen(item) ? "cancelling" : item.state}</State>
    ),
  },
  { id: "kind", title: "Kind", cell: nounOf },
  {
    id: "started",
    title: "Started",
    room: 900,
    cell: ({ created_at }) => <span title={full(created_at)}>{ago(created_at)}</span>,
  },
  { id: "key", title: "Key", cell: ({ key }) => <a href={`/keys/${encodeURIComponent(key)}`}>{nameOfKey(key)}</a> },
  { id: "progress", title: "Progress", kind: "number", cell: ({ progress }) => <Progress progress={progress} /> },
  {
    id: "cost",
    title: "Expected cost",
    kind: "number",
    cell: ({ expected_cost_nano_usd }) => known(expected_cost_nano_usd, money),
  },
  { id: "details", title: "Details", room: 900, cell: Details },
  {
    id: "acts",
    title: "Actions",
    kind: "acts",
    cell: (item) =>
      onCancel !== undefined &&
      isOpen(item) &&
      !item.cancelled && (
        <button type="button" class="quiet danger" onClick={() => onCancel(item)} aria-label={`Cancel ${item.id}`}>
          Cancel
        </button>
      ),
  },
];

const Nothing = ({ state }: { state: string }) =>
  state === "all" ? (
    <Empty title="No operations">
      <p>
        Videos, and responses with <code>background: true</code>, run asynchronously. They are listed here from
        submission until they expire.
      </p>
    </Empty>
  ) : (
    <Empty title={`No operations are ${state}`}>
      <p>
        <a href="/operations">Show all operations</a>
      </p>
    </Empty>
  );

export function Operations() {
  const { query } = place.value;
  const state = STATES.find((name) => name === query.get("state")) ?? "all";
  const after = query.get("after") ?? undefined;
  const [cancelling, setCancelling] = useState<OperationItem | undefined>(undefined);
  const loaded = useData(`${state} ${after}`, (abort) =>
    ask<Page<OperationItem>>(
      "/api/operations",
      { limit: PAGE_SIZE, state: state === "all" ? undefined : state, after },
      abort,
    ),
  );
  const refresh = useThrottled(loaded.reload, 1_000);
  useEffect(() => listenTo(({ type }) => type === "operation" && refresh()), [refresh]);
  useEffect(() => {
    const turn = setInterval(refresh, 10_000);
    return () => clearInterval(turn);
  }, [refresh]);
  const mayCancel = session.value?.role === "admin";
  return (
    <>
      <PageHead title="Operations">
        <Choice
          label="Status"
          value={state}
          options={STATES.map((name) => ({ value: name, name }))}
          onChange={(name) => setQuery({ state: name === "all" ? undefined : name, after: undefined })}
        />
      </PageHead>
      <Loaded of={loaded}>
        {(page) =>
          page.data.length === 0 ? (
            <Nothing state={state} />
          ) : (
            <>
              <DataTable
                label="Operations"
                rows={page.data}
                keyOf={({ id }) => id}
                columns={columns(mayCancel ? setCancelling : undefined)}
              />
              <Pager page={page} of="operations" />
            </>
          )
        }
      </Loaded>
      {cancelling && (
        <CancelOperation item={cancelling} onDone={loaded.reload} onClose={() => setCancelling(undefined)} />
      )}
    </>
  );
}
