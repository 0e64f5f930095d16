import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { ExportItem } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { Code, Empty, PageHead, Problem, State, Waiting } from "../parts/basics.tsx";
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

const LastFile = ({ last_file: last }: ExportItem) =>
  last === null ? (
    <span class="muted">none yet</span>
  ) : (
    <>
      <code>{last.name}</code>
      <span class="muted block">
        {counted(last.rows, "receipt")}, {full(last.at)}
      </span>
    </>
  );

function Table({ exports, reload }: { exports: readonly ExportItem[]; reload: () => void }) {
  const { failed, busy, run } = useRun(reload);
  const mayRun = session.value?.role === "admin";
  return (
    <>
      {failed && <Problem error={failed} />}
      <section class="wide" tabIndex={0} aria-label="Exports table">
        <table class="list exports">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Destination</th>
              <th scope="col">Format</th>
              <th scope="col">State</th>
              <th scope="col">Lag</th>
              <th scope="col">Receipts</th>
              <th scope="col">Last file</th>
              {mayRun && (
                <th scope="col">
                  <span class="unseen">Run</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {exports.map((one) => (
              <tr key={one.name}>
                <th scope="row" class="name">
                  {one.name}
                </th>
                <td>
                  <code>{one.to}</code>
                </td>
                <td>{one.format}</td>
                <td>
                  <State kind={KINDS[one.state]}>{one.state}</State>
                  {one.error !== null && <span class="muted block">{one.error}</span>}
                </td>
                <td>{one.lag_seconds === null ? "" : counted(one.lag_seconds, "second")}</td>
                <td>{one.rows}</td>
                <td>
                  <LastFile {...one} />
                </td>
                {mayRun && (
                  <td class="acts">
                    <button
                      type="button"
                      disabled={busy}
                      onClick={() => run(one.name)}
                      aria-label={`Run now: ${one.name}`}
                    >
                      Run now
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
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
  const { data, error, reload } = useData("", (abort) => ask<{ data: ExportItem[] }>("/api/exports", {}, abort));
  return (
    <>
      <PageHead title="Exports">
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? !error && <Waiting /> : null}
      {data !== undefined && data.data.length === 0 && <NoExports />}
      {data !== undefined && data.data.length > 0 && <Table exports={data.data} reload={reload} />}
    </>
  );
}
