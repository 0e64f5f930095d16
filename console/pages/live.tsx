import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { Gathered, SessionItem } from "../api/types.ts";
import { counted, duration, whole } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { Empty, PageHead, State } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ToCalls } from "../parts/to-calls.tsx";
import { Unanswered } from "../parts/unanswered.tsx";
import { useNow } from "../parts/use-now.ts";
import { usePolled } from "../parts/use-polled.ts";
import { nameOfKey } from "../state/names.ts";

const EVERY_MS = 3_000;

function EndSession({ one, onDone, onClose }: { one: SessionItem; onDone: () => void; onClose: () => void }) {
  const { submit, error, busy } = useSending(
    () => change("POST", `/api/live_sessions/${encodeURIComponent(one.id)}/end`),
    () => {
      onDone();
      onClose();
    },
  );
  return (
    <Dialog title="End live session" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          The {one.protocol} connection of <strong>{nameOfKey(one.key)}</strong>, open since {full(one.opened_at)}, with{" "}
          {counted(one.turns, "turn")}.
        </p>
        <ul class="plain">
          <li>The client is told that the connection is closed. It may open another.</li>
          <li>
            {one.running === 0
              ? "No turn is running, so nothing more is billed."
              : `${counted(one.running, "running turn")} end${one.running === 1 ? "s" : ""}, and what was produced is billed.`}
          </li>
        </ul>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Keep it open
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            End session
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface Shown {
  nowMs: number;
  hasInstances: boolean;
  onEnd: ((one: SessionItem) => void) | undefined;
}

const columnsOf = ({ nowMs, hasInstances, onEnd }: Shown): Column<SessionItem>[] => [
  {
    id: "session",
    title: "Session",
    cell: ({ id }) => (
      <ToCalls filter={{ session: id }}>
        <code>{id}</code>
      </ToCalls>
    ),
  },
  {
    id: "state",
    title: "State",
    onPhone: "lead",
    cell: ({ running }) => (
      <State kind={running > 0 ? "good" : "idle"}>{running > 0 ? counted(running, "running turn") : "waiting"}</State>
    ),
  },
  { id: "key", title: "Key", cell: ({ key }) => <ToCalls filter={{ key }}>{nameOfKey(key)}</ToCalls> },
  { id: "project", title: "Project", room: 900, cell: ({ project }) => project },
  { id: "protocol", title: "Protocol", room: 900, cell: ({ protocol }) => protocol },
  {
    id: "age",
    title: "Open for",
    kind: "number",
    sortBy: ({ opened_at }) => nowMs - Date.parse(opened_at),
    cell: ({ opened_at }) => <span title={full(opened_at)}>{openFor(Math.max(0, nowMs - Date.parse(opened_at)))}</span>,
  },
  { id: "turns", title: "Turns", kind: "number", sortBy: ({ turns }) => turns, cell: ({ turns }) => whole(turns) },
  ...(hasInstances
    ? [{ id: "instance", title: "Process", muted: true, cell: ({ instance }: SessionItem) => instance }]
    : []),
  {
    id: "acts",
    title: "End",
    kind: "acts",
    cell: (one) =>
      onEnd !== undefined && (
        <button type="button" class="quiet danger" aria-label={`End: ${one.id}`} onClick={() => onEnd(one)}>
          End
        </button>
      ),
  },
];

const openFor = (ms: number): string => (ms < 60_000 ? `${Math.floor(ms / 1_000)} s` : duration(ms));

/** The open live connections of all processes. */
export function Live() {
  const nowMs = useNow();
  const [ending, setEnding] = useState<SessionItem | undefined>(undefined);
  const loaded = usePolled("", EVERY_MS, (abort) => ask<Gathered<SessionItem>>("/api/live_sessions", {}, abort));
  const mayEnd = session.value?.role !== "viewer";
  return (
    <>
      <PageHead title="Live sessions">
        <span class="muted small" role="status">
          {loaded.data === undefined ? "" : `${counted(loaded.data.total, "session")}, updates itself`}
        </span>
      </PageHead>
      <Loaded of={loaded}>
        {(gathered) => (
          <>
            <Unanswered from={gathered} what="sessions" />
            {gathered.data.length === 0 ? (
              <Empty title="No live sessions">
                <p>
                  Open WebSockets of the Responses API, Realtime and Gemini Live are listed here. Try one with{" "}
                  <code>bin/trivium talk</code>.
                </p>
              </Empty>
            ) : (
              <DataTable
                label="Live sessions"
                rows={gathered.data}
                keyOf={({ id }) => id}
                columns={columnsOf({
                  nowMs,
                  hasInstances: gathered.instances > 1,
                  onEnd: mayEnd ? setEnding : undefined,
                })}
              />
            )}
            {gathered.total > gathered.data.length && (
              <p class="muted small">The oldest {gathered.data.length} are shown.</p>
            )}
          </>
        )}
      </Loaded>
      {ending && <EndSession one={ending} onDone={loaded.reload} onClose={() => setEnding(undefined)} />}
    </>
  );
}
