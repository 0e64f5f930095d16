import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { LiveSession, LiveSessions } from "../api/types.ts";
import { full } from "../format/time.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { useData } from "../parts/use-data.ts";
import { nameOfKey } from "../state/names.ts";

/** Ends a session. Its client is told. */
function useEnd(done: () => void) {
  const [failed, setFailed] = useState<Error | undefined>(undefined);
  const [ending, setEnding] = useState<string | undefined>(undefined);
  const end = async (id: string) => {
    setEnding(id);
    try {
      await change("POST", `/api/live_sessions/${encodeURIComponent(id)}/end`);
      setFailed(undefined);
      done();
    } catch (thrown) {
      setFailed(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setEnding(undefined);
    }
  };
  return { failed, ending, end };
}

function Table({ sessions, reload }: { sessions: readonly LiveSession[]; reload: () => void }) {
  const { failed, ending, end } = useEnd(reload);
  const mayEnd = session.value?.role !== "viewer";
  return (
    <>
      {failed && <Problem error={failed} />}
      <section class="wide" tabIndex={0} aria-label="Live sessions table">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">Key</th>
              <th scope="col">Project</th>
              <th scope="col">Protocol</th>
              <th scope="col">Opened</th>
              <th scope="col" class="number">
                Turns
              </th>
              <th scope="col" class="number">
                Running
              </th>
              {mayEnd && (
                <th scope="col">
                  <span class="unseen">End</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {sessions.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  <code>{one.id}</code>
                </th>
                <td>
                  <a href={`/calls?key=${encodeURIComponent(one.key)}`}>{nameOfKey(one.key)}</a>
                </td>
                <td>{one.project}</td>
                <td>{one.protocol}</td>
                <td>{full(one.opened_at)}</td>
                <td class="number">{one.turns}</td>
                <td class="number">{one.running}</td>
                {mayEnd && (
                  <td class="acts">
                    <button
                      type="button"
                      disabled={ending === one.id}
                      onClick={() => end(one.id)}
                      aria-label={`End: ${one.id}`}
                    >
                      End
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

export function Live() {
  const { data, error, reload } = useData("", (abort) => ask<LiveSessions>("/api/live_sessions", {}, abort));
  return (
    <>
      <PageHead title="Live sessions">
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? !error && <Waiting /> : null}
      {data !== undefined && data.unanswered.length > 0 && (
        <p role="status">No answer from {data.unanswered.map(({ place }) => place).join("; ")}.</p>
      )}
      {data !== undefined && data.problem !== null && <p role="status">{data.problem}</p>}
      {data !== undefined && data.data.length === 0 && (
        <Empty title="No live sessions">
          <p>
            Open WebSockets of the Responses API, Realtime and Gemini Live are listed here. Try one with{" "}
            <code>bin/trivium talk</code>.
          </p>
        </Empty>
      )}
      {data !== undefined && data.data.length > 0 && <Table sessions={data.data} reload={reload} />}
    </>
  );
}
