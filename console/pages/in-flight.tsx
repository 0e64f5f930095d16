import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { CallItem, Gathered } from "../api/types.ts";
import { counted, duration, known, short } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { Empty, PageHead, State, words } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ToCalls } from "../parts/to-calls.tsx";
import { Unanswered } from "../parts/unanswered.tsx";
import { useNow } from "../parts/use-now.ts";
import { usePolled } from "../parts/use-polled.ts";
import { nameOfKey } from "../state/names.ts";

const EVERY_MS = 2_000;
/** A call that waits this long is worth a look. */
const LONG_MS = 30_000;

const PHASES: Readonly<Record<CallItem["phase"], string>> = {
  gateway: "in the gateway",
  client: "waiting for the client",
  queue: "queued for a slot",
  backoff: "pausing before a retry",
  provider: "waiting for the provider",
  stream: "streaming",
};

const kindOf = ({ phase, stopping }: CallItem, ageMs: number): "good" | "warn" | "idle" =>
  stopping ? "idle" : phase === "stream" ? "good" : ageMs > LONG_MS || phase === "backoff" ? "warn" : "idle";

/** Stops a call after its name has been read once more. */
function StopCall({ call, onDone, onClose }: { call: CallItem; onDone: () => void; onClose: () => void }) {
  const { submit, error, busy } = useSending(
    () => change("POST", `/api/calls/${encodeURIComponent(call.id)}/stop`),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title="Stop call" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          <strong>{call.model}</strong> for {nameOfKey(call.key)}
          {call.end_user !== null && ` (${call.end_user})`}, running since {full(call.started_at)}.
        </p>
        <ul class="plain">
          <li>
            The client gets{" "}
            {call.first_content_ms === null
              ? 'a 503: "An operator of this gateway stopped this call."'
              : 'the error "An operator of this gateway stopped this call." at the end of its stream.'}{" "}
            It is told not to retry.
          </li>
          <li>The provider's work is cancelled. What it has produced so far is billed to the key.</li>
        </ul>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Let it run
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            Stop call
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface Shown {
  nowMs: number;
  hasInstances: boolean;
  onStop: ((call: CallItem) => void) | undefined;
}

function columnsOf({ nowMs, hasInstances, onStop }: Shown): Column<CallItem>[] {
  const ageOf = ({ started_at }: CallItem): number => Math.max(0, nowMs - Date.parse(started_at));
  return [
    {
      id: "model",
      title: "Model",
      cell: ({ model, provider, upstream_model }) => (
        <span class="two-lines" title={upstream_model ?? undefined}>
          <ToCalls filter={{ model }}>{model}</ToCalls>
          <small>{provider ?? "no provider yet"}</small>
        </span>
      ),
    },
    {
      id: "phase",
      title: "Phase",
      onPhone: "lead",
      cell: (call) => <State kind={kindOf(call, ageOf(call))}>{call.stopping ? "stopping" : PHASES[call.phase]}</State>,
    },
    { id: "age", title: "Age", kind: "number", sortBy: ageOf, cell: (call) => seconds(ageOf(call)) },
    {
      id: "attempts",
      title: "Attempts",
      kind: "number",
      sortBy: ({ attempts }) => attempts,
      cell: ({ attempts }) => attempts,
    },
    {
      id: "key",
      title: "Key",
      cell: ({ key, end_user }) => (
        <span class="two-lines">
          <ToCalls filter={{ key }}>{nameOfKey(key)}</ToCalls>
          {end_user !== null && <small>{end_user}</small>}
        </span>
      ),
    },
    {
      id: "first_content",
      title: "First content",
      kind: "number",
      cell: ({ first_content_ms }) => known(first_content_ms, duration),
    },
    {
      id: "characters",
      title: "Characters",
      kind: "number",
      sortBy: ({ characters }) => characters,
      cell: ({ characters }) => known(characters, short),
    },
    {
      id: "request",
      title: "Request",
      muted: true,
      cell: ({ verb, dialect, stream, batch }) =>
        `${words(verb)}, ${dialect}${stream ? ", streamed" : ""}${batch === null ? "" : ", batch"}`,
    },
    ...(hasInstances
      ? [{ id: "instance", title: "Process", muted: true, cell: ({ instance }: CallItem) => instance }]
      : []),
    {
      id: "acts",
      title: "Stop",
      kind: "acts",
      cell: (call) =>
        call.session_id !== null ? (
          <a href="/live">Live session</a>
        ) : (
          onStop !== undefined && (
            <button
              type="button"
              class="quiet danger"
              disabled={call.stopping}
              aria-label={`Stop ${call.model}, ${call.id}`}
              onClick={() => onStop(call)}
            >
              Stop
            </button>
          )
        ),
    },
  ];
}

/** Whole seconds, which change once a second. */
const seconds = (ms: number): string => (ms < 60_000 ? `${Math.floor(ms / 1_000)} s` : duration(ms));

/** The calls that run at this moment, in all processes. */
export function InFlight() {
  const nowMs = useNow();
  const [stopping, setStopping] = useState<CallItem | undefined>(undefined);
  const loaded = usePolled("", EVERY_MS, (abort) => ask<Gathered<CallItem>>("/api/calls", {}, abort));
  const mayStop = session.value?.role !== "viewer";
  return (
    <>
      <PageHead title="In flight">
        <span class="muted small" role="status">
          {loaded.data === undefined
            ? ""
            : `${counted(loaded.data.total, "call")}, ${loaded.data.instances} ${loaded.data.instances === 1 ? "process" : "processes"}, updates itself`}
        </span>
      </PageHead>
      <Loaded of={loaded}>
        {(gathered) => (
          <>
            <Unanswered from={gathered} what="calls" />
            {gathered.data.length === 0 ? (
              <Empty title="No calls in flight">
                <p>
                  Calls appear here while they run, and in <a href="/calls">Calls</a> when they have ended. Videos are
                  in <a href="/operations">Operations</a>.
                </p>
              </Empty>
            ) : (
              <DataTable
                label="Calls in flight"
                class="in-flight"
                rows={gathered.data}
                keyOf={({ id }) => id}
                columns={columnsOf({
                  nowMs,
                  hasInstances: gathered.instances > 1,
                  onStop: mayStop ? setStopping : undefined,
                })}
              />
            )}
            {gathered.total > gathered.data.length && (
              <p class="muted small">The oldest {gathered.data.length} are shown.</p>
            )}
          </>
        )}
      </Loaded>
      {stopping && <StopCall call={stopping} onDone={loaded.reload} onClose={() => setStopping(undefined)} />}
    </>
  );
}
