import { useEffect, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { BatchItem } from "../api/types.ts";
import { money } from "../format/money.ts";
import { whole } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { CopyButton, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { BatchProgress, BatchState, isOpen } from "../parts/batch-progress.tsx";
import { CancelBatch } from "../parts/cancel-batch.tsx";
import { Fact } from "../parts/fact.tsx";
import { callsWith } from "../parts/filter-bar.tsx";
import { Icon } from "../parts/icon.tsx";
import { useData, useThrottled } from "../parts/use-data.ts";
import { nameOfKey } from "../state/names.ts";
import { place } from "../state/router.ts";

const REFRESH_MS = 2_000;

const FileFact = ({ name, id }: { name: string; id: string | null }) =>
  id === null ? null : (
    <Fact name={name}>
      <a href={`/files?${new URLSearchParams({ id })}`}>{id}</a>
    </Fact>
  );

function Facts({ item }: { item: BatchItem }) {
  const { progress } = item;
  const maySeeCalls = session.value?.role !== "project";
  return (
    <dl class="facts">
      <Fact name="Requests">
        <BatchProgress progress={progress} />
      </Fact>
      <Fact name="Succeeded">{whole(progress.succeeded)}</Fact>
      <Fact name="Failed">{whole(progress.failed)}</Fact>
      <Fact name="Running">{whole(progress.running)}</Fact>
      <Fact name="Waiting">{whole(progress.waiting)}</Fact>
      {progress.cancelled + progress.expired > 0 && (
        <Fact name="Not run">{whole(progress.cancelled + progress.expired)}</Fact>
      )}
      <Fact name="Cost so far">{money(item.cost_nano_usd)}</Fact>
      <Fact name="Reserved">{money(item.held_nano_usd)}</Fact>
      <Fact name="Project">
        <a href={`/batches?${new URLSearchParams({ project: item.project })}`}>{item.project}</a>
      </Fact>
      <Fact name="Key">
        <a href={`/batches?${new URLSearchParams({ key: item.key })}`}>{nameOfKey(item.key)}</a>
      </Fact>
      <Fact name="Endpoint">
        <code>{item.endpoint}</code>
      </Fact>
      <Fact name="Run by">{item.mode === "own" ? "the gateway, as ordinary calls" : item.mode}</Fact>
      <Fact name="Completion window">{item.completion_window}</Fact>
      <Fact name="Started">{item.started_at === null ? "–" : full(item.started_at)}</Fact>
      <Fact name={item.ended_at === null ? "Expires" : "Ended"}>{full(item.ended_at ?? item.deadline_at)}</Fact>
      <FileFact name="Input file" id={item.input_file_id} />
      <FileFact name="Output file" id={item.output_file_id} />
      <FileFact name="Error file" id={item.error_file_id} />
      {maySeeCalls && (
        <Fact name="Calls">
          <a href={callsWith({ batch: item.id }, "30d")}>Calls of this batch</a>
        </Fact>
      )}
    </dl>
  );
}

const Errors = ({ errors }: Pick<BatchItem, "errors">) => (
  <section class="panel">
    <h2>Errors</h2>
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">
            Line
          </th>
          <th scope="col">Code</th>
          <th scope="col">Message</th>
        </tr>
      </thead>
      <tbody>
        {errors.map(({ code, message, line }) => (
          <tr key={`${line} ${code}`}>
            <td class="number">{line ?? "–"}</td>
            <th scope="row">
              <code>{code}</code>
            </th>
            <td>{message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

export function OneBatch() {
  const id = decodeURIComponent(place.value.path.slice("/batches/".length));
  const [cancelling, setCancelling] = useState(false);
  const { data, error, reload } = useData(id, (abort) =>
    ask<{ data: BatchItem }>(`/api/batches/${encodeURIComponent(id)}`, {}, abort),
  );
  const item = data?.data;
  const refresh = useThrottled(reload, REFRESH_MS);
  const changes = item !== undefined && item.ended_at === null;
  useEffect(() => {
    if (!changes) return;
    const turn = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(turn);
  }, [refresh, changes]);
  return (
    <>
      <p class="crumb">
        <a href="/batches">
          <Icon name="back" size={15} /> Batches
        </a>
      </p>
      <PageHead title={item?.name ?? "Batch"}>
        {item && <CopyButton text={JSON.stringify(item, undefined, 2)} label="Copy as JSON" />}
        {item && isOpen(item) && session.value?.role !== "viewer" && (
          <button type="button" class="danger" onClick={() => setCancelling(true)}>
            Cancel batch
          </button>
        )}
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {item === undefined ? (
        !error && <Waiting />
      ) : (
        <>
          <p class="lead">
            <BatchState state={item.state} /> <span>{full(item.created_at)}</span> <code class="muted">{item.id}</code>
          </p>
          <Facts item={item} />
          {item.errors.length > 0 && <Errors errors={item.errors} />}
        </>
      )}
      {cancelling && item && <CancelBatch item={item} onDone={reload} onClose={() => setCancelling(false)} />}
    </>
  );
}
