import { useEffect, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { BatchItem, Page } from "../api/types.ts";
import { money } from "../format/money.ts";
import { ago, full } from "../format/time.ts";
import { Choice, Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { BatchProgress, BatchState, isOpen } from "../parts/batch-progress.tsx";
import { CancelBatch } from "../parts/cancel-batch.tsx";
import { OwnerCells, OwnerFilter, ownerFilter } from "../parts/owner-filter.tsx";
import { Pager } from "../parts/pager.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { place, setQuery } from "../state/router.ts";

const STATES = { all: "all", in_progress: "running", completed: "completed", failed: "failed", expired: "expired" };
type Shown = keyof typeof STATES;
const SHOWN = Object.keys(STATES) as Shown[];

const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

function Row({ item, onCancel }: { item: BatchItem; onCancel: (() => void) | undefined }) {
  const [error] = item.errors;
  return (
    <tr>
      <th scope="row" class="name" title={item.id}>
        <a href={`/batches/${item.id}`}>{item.id}</a>
        {item.name !== null && <span class="muted small block">{item.name}</span>}
      </th>
      <td title={full(item.created_at)}>{ago(item.created_at)}</td>
      <td>
        <BatchState state={item.state} />
      </td>
      <OwnerCells path="/batches" project={item.project} name={item.key} />
      <td class="number">
        <BatchProgress progress={item.progress} />
      </td>
      <td class="number">{money(item.cost_nano_usd)}</td>
      <td class="number">{item.held_nano_usd === 0 ? "–" : money(item.held_nano_usd)}</td>
      <td>
        {error !== undefined ? (
          <span class="failed">
            {error.line !== null && `Line ${error.line}: `}
            {error.message}
          </span>
        ) : item.ended_at === null ? (
          <span class="muted">expires {ago(item.deadline_at)}</span>
        ) : (
          <span class="muted" title={full(item.ended_at)}>
            ended {ago(item.ended_at)}
          </span>
        )}
      </td>
      <td class="acts">
        {onCancel !== undefined && isOpen(item) && (
          <button type="button" class="quiet danger" onClick={onCancel} aria-label={`Cancel ${item.id}`}>
            Cancel
          </button>
        )}
      </td>
    </tr>
  );
}

export function Batches() {
  const { query } = place.value;
  const state = SHOWN.find((name) => name === query.get("state")) ?? "all";
  const after = query.get("after") ?? undefined;
  const { project, key } = ownerFilter();
  const [cancelling, setCancelling] = useState<BatchItem | undefined>(undefined);
  const { data, error, reload } = useData(JSON.stringify([state, project, key, after]), (abort) =>
    ask<Page<BatchItem>>(
      "/api/batches",
      { limit: PAGE_SIZE, state: state === "all" ? undefined : state, project, key, after },
      abort,
    ),
  );
  const refresh = useThrottled(reload, REFRESH_MS);
  // Only batches that run change without a reason on this page.
  const changes = data?.data.some((item) => item.ended_at === null) === true;
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
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : data.data.length === 0 ? (
        <Nothing isNarrowed={isNarrowed} />
      ) : (
        <>
          <section class="wide" tabIndex={0} aria-label="Batches table">
            <table class="list">
              <thead>
                <tr>
                  <th scope="col">Batch</th>
                  <th scope="col">Created</th>
                  <th scope="col">Status</th>
                  <th scope="col">Project</th>
                  <th scope="col">Key</th>
                  <th scope="col" class="number">
                    Requests
                  </th>
                  <th scope="col" class="number">
                    Cost so far
                  </th>
                  <th scope="col" class="number">
                    Reserved
                  </th>
                  <th scope="col">Details</th>
                  <th scope="col">
                    <span class="unseen">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.data.map((item) => (
                  <Row key={item.id} item={item} onCancel={mayCancel ? () => setCancelling(item) : undefined} />
                ))}
              </tbody>
            </table>
          </section>
          <Pager page={data} of="batches" />
        </>
      )}
      {cancelling && <CancelBatch item={cancelling} onDone={reload} onClose={() => setCancelling(undefined)} />}
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
