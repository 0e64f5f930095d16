import { useEffect, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { BatchItem, Page } from "../api/types.ts";
import { money } from "../format/money.ts";
import { ago, full } from "../format/time.ts";
import { Choice, Empty, PageHead } from "../parts/basics.tsx";
import { BatchProgress, BatchState, isOpen } from "../parts/batch-progress.tsx";
import { CancelBatch } from "../parts/cancel-batch.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ownerColumn } from "../parts/owner-column.tsx";
import { OwnerFilter, ownerFilter } from "../parts/owner-filter.tsx";
import { Pager } from "../parts/pager.tsx";
import { TwoLines } from "../parts/two-lines.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { place, setQuery } from "../state/router.ts";

const STATES = { all: "all", in_progress: "running", completed: "completed", failed: "failed", expired: "expired" };
type Shown = keyof typeof STATES;
const SHOWN = Object.keys(STATES) as Shown[];

const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

function Details({ errors: [error], deadline_at, ended_at }: BatchItem) {
  if (error !== undefined) {
    const message = `${error.line === null ? "" : `Line ${error.line}: `}${error.message}`;
    return (
      <span class="failed cut" title={message}>
        {message}
      </span>
    );
  }
  return ended_at === null ? (
    <span class="muted" title={full(deadline_at)}>
      expires {ago(deadline_at)}
    </span>
  ) : (
    <span class="muted" title={full(ended_at)}>
      ended {ago(ended_at)}
    </span>
  );
}

const columns = (onCancel: ((item: BatchItem) => void) | undefined): Column<BatchItem>[] => [
  {
    id: "batch",
    title: "Batch",
    cell: ({ id, name, created_at }) => (
      <TwoLines
        of={<a href={`/batches/${id}`}>{name ?? id}</a>}
        below={`${name === null ? "" : `${id}, `}created ${ago(created_at)}`}
        title={`${name ?? id}, created ${full(created_at)}`}
      />
    ),
  },
  { id: "state", title: "Status", onPhone: "lead", cell: ({ state }) => <BatchState state={state} /> },
  ownerColumn<BatchItem>("/batches"),
  {
    id: "progress",
    title: "Requests",
    kind: "number",
    cell: ({ progress }) => <BatchProgress progress={progress} />,
  },
  {
    id: "cost",
    title: "Cost so far",
    kind: "number",
    cell: ({ cost_nano_usd, held_nano_usd }) => (
      <span class="two-lines">
        {money(cost_nano_usd)}
        {held_nano_usd > 0 && <small>{money(held_nano_usd)} reserved</small>}
      </span>
    ),
  },
  { id: "details", title: "Details", room: 1100, cell: Details },
  {
    id: "acts",
    title: "Actions",
    kind: "acts",
    cell: (item) =>
      onCancel !== undefined &&
      isOpen(item) && (
        <button type="button" class="quiet danger" onClick={() => onCancel(item)} aria-label={`Cancel ${item.id}`}>
          Cancel
        </button>
      ),
  },
];

export function Batches() {
  const { query } = place.value;
  const state = SHOWN.find((name) => name === query.get("state")) ?? "all";
  const after = query.get("after") ?? undefined;
  const { project, key } = ownerFilter();
  const [cancelling, setCancelling] = useState<BatchItem | undefined>(undefined);
  const loaded = useData(JSON.stringify([state, project, key, after]), (abort) =>
    ask<Page<BatchItem>>(
      "/api/batches",
      { limit: PAGE_SIZE, state: state === "all" ? undefined : state, project, key, after },
      abort,
    ),
  );
  const refresh = useThrottled(loaded.reload, REFRESH_MS);
  // Only batches that run change without a reason on this page.
  const changes = loaded.data?.data.some((item) => item.ended_at === null) === true;
  useEffect(() => {
    if (!changes) return;
    const turn = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(turn);
  }, [refresh, changes]);
  const mayCancel = session.value?.role !== "viewer";
  const isNarrowed = state !== "all" || project !== undefined || key !== undefined || after !== undefined;
  return (
    <>
      <PageHead title="Batches">
        <Choice
          label="Status"
          value={state}
          options={SHOWN.map((name) => ({ value: name, name: STATES[name] }))}
          onChange={(name) => setQuery({ state: name === "all" ? undefined : name, after: undefined })}
        />
      </PageHead>
      <OwnerFilter />
      <Loaded of={loaded}>
        {(page) =>
          page.data.length === 0 ? (
            <Nothing isNarrowed={isNarrowed} />
          ) : (
            <>
              <DataTable
                label="Batches"
                rows={page.data}
                keyOf={({ id }) => id}
                columns={columns(mayCancel ? setCancelling : undefined)}
                addressOf={({ id }) => `/batches/${id}`}
              />
              <Pager page={page} of="batches" />
            </>
          )
        }
      </Loaded>
      {cancelling && <CancelBatch item={cancelling} onDone={loaded.reload} onClose={() => setCancelling(undefined)} />}
    </>
  );
}

const Nothing = ({ isNarrowed }: { isNarrowed: boolean }) =>
  isNarrowed ? (
    <Empty title="No matching batches">
      <p>
        <a href="/batches">Clear the filter</a>
      </p>
    </Empty>
  ) : (
    <Empty title="No batches">
      <p>Batches that clients create are listed here for 30 days, with their progress and cost.</p>
    </Empty>
  );
