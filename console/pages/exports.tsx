import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ExportItem } from "../api/types.ts";
import { counted, duration, known, whole } from "../format/numbers.ts";
import { ago, full, when } from "../format/time.ts";
import { Code, Empty, PageHead, Problem, State } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { TwoLines } from "../parts/two-lines.tsx";
import { useData } from "../parts/use-data.ts";

const EXAMPLE = `exports:
  - to: s3://my-bucket/receipts
    format: parquet
    every: 1h`;

const KINDS = { waiting: "good", running: "good", failing: "bad", starting: "idle" } as const;

/** Runs an export now. */
function useRun(done: () => void) {
  const [failed, setFailed] = useState<Error | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const run = async (name: string) => {
    setBusy(true);
    try {
      await change("POST", `/api/exports/${encodeURIComponent(name)}/run`);
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

const columns = (run: ((name: string) => void) | undefined, busy: boolean): Column<ExportItem>[] => [
  {
    id: "name",
    title: "Name",
    cell: ({ name, to }) => <TwoLines of={name} below={<code>{to}</code>} title={`${name}: ${to}`} />,
  },
  {
    id: "state",
    title: "State",
    onPhone: "lead",
    cell: ({ state, failing_since }) => (
      <State kind={KINDS[state]}>
        {state}
        {failing_since !== null && ` since ${when(failing_since)}`}
      </State>
    ),
  },
  { id: "format", title: "Format", cell: ({ format }) => format },
  {
    id: "lag",
    title: "Lag",
    kind: "number",
    cell: ({ lag_seconds }) => known(lag_seconds, (seconds) => duration(seconds * 1_000)),
  },
  { id: "rows", title: "Receipts", kind: "number", cell: ({ rows }) => whole(rows) },
  {
    id: "last",
    title: "Last file",
    cell: ({ last_file: last }) =>
      last === null ? (
        <span class="muted">none yet</span>
      ) : (
        <TwoLines
          of={<code>{last.name}</code>}
          below={`${counted(last.rows, "receipt")}, ${full(last.at)}`}
          title={last.name}
        />
      ),
  },
  {
    id: "next",
    title: "Next run",
    cell: ({ next_run_at }) => (next_run_at === null ? "–" : <span title={full(next_run_at)}>{ago(next_run_at)}</span>),
  },
  {
    id: "acts",
    title: "Actions",
    kind: "acts",
    cell: ({ name }) =>
      run !== undefined && (
        <button type="button" disabled={busy} onClick={() => run(name)} aria-label={`Run now: ${name}`}>
          Run now
        </button>
      ),
  },
];

/** Why exports fail, in full: a table would cut it. */
const Failures = ({ exports }: { exports: readonly ExportItem[] }) =>
  exports.map(
    ({ name, error }) =>
      error !== null && (
        <p key={name} class="problem" role="status">
          <strong>{name}</strong>: {error}
        </p>
      ),
  );

function Table({ exports, reload }: { exports: readonly ExportItem[]; reload: () => void }) {
  const { failed, busy, run } = useRun(reload);
  const mayRun = session.value?.role === "admin";
  return (
    <>
      {failed && <Problem error={failed} />}
      <Failures exports={exports} />
      <DataTable
        label="Exports"
        rows={exports}
        keyOf={({ name }) => name}
        columns={columns(mayRun ? (name) => void run(name) : undefined, busy)}
      />
    </>
  );
}

const NoExports = () => (
  <Empty title="No exports configured">
    <p>
      Trivium can copy receipts to a folder or a bucket as JSONL, Parquet or FOCUS. Add a destination to{" "}
      <code>trivium.yaml</code>, and restart the gateway.
    </p>
    <Code text={EXAMPLE} />
  </Empty>
);

export function Exports() {
  const loaded = useData("exports", (abort) => ask<{ data: ExportItem[] }>("/api/exports", {}, abort));
  return (
    <>
      <PageHead title="Exports">
        <button type="button" onClick={loaded.reload}>
          Refresh
        </button>
      </PageHead>
      <Loaded of={loaded}>
        {({ data }) => (data.length === 0 ? <NoExports /> : <Table exports={data} reload={loaded.reload} />)}
      </Loaded>
    </>
  );
}
