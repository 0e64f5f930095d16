import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { OpenSession, Page, TokenSubject } from "../api/types.ts";
import { money } from "../format/money.ts";
import { ago, full } from "../format/time.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { Pager } from "../parts/pager.tsx";
import { useData } from "../parts/use-data.ts";
import { place } from "../state/router.ts";

const PAGE_SIZE = 50;

interface Ending {
  title: string;
  text: string;
  act: string;
  send: () => Promise<unknown>;
}

function EndDialog({ ending, onDone, onClose }: { ending: Ending; onDone: () => void; onClose: () => void }) {
  const { submit, error, busy } = useSending(ending.send, () => {
    onDone();
    onClose();
  });
  return (
    <Dialog title={ending.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{ending.text}</p>
        <FormProblem error={error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger main" disabled={busy}>
            {ending.act}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const endingOf = ({ id, operator }: OpenSession): Ending => ({
  title: "End session",
  text: `The session of ${operator} ends at once. They can log in again unless their access is removed as well.`,
  act: "End session",
  send: () => change("DELETE", `/api/sessions/${encodeURIComponent(id)}`),
});

const revocationOf = ({ issuer, subject, name }: TokenSubject): Ending => ({
  title: "Revoke tokens",
  text: `All tokens of ${name ?? subject} that were issued until now are refused within a second. Tokens that the issuer signs later work.`,
  act: "Revoke tokens",
  send: () => change("POST", "/api/subjects/revoke", { issuer, subject }),
});

function Sessions({ onEnd }: { onEnd: ((ending: Ending, reload: () => void) => void) | undefined }) {
  const { data, error, reload } = useData("sessions", (abort) =>
    ask<Page<OpenSession>>("/api/sessions", { limit: 500 }, abort),
  );
  if (error) return <Problem error={error} retry={reload} />;
  if (data === undefined) return <Waiting />;
  return (
    <section class="wide" tabIndex={0} aria-label="Sessions table">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Operator</th>
            <th scope="col">Role</th>
            <th scope="col">Logged in with</th>
            <th scope="col">IP address</th>
            <th scope="col">Opened</th>
            <th scope="col">Last used</th>
            <th scope="col">Ends</th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data.data.map((one) => (
            <tr key={one.id}>
              <th scope="row" class="name">
                {one.operator}
                {one.subject !== null && <span class="muted small block">{one.subject}</span>}
              </th>
              <td>{one.project === null ? one.role : `${one.role} ${one.project}`}</td>
              <td>{one.issuer ?? "a secret"}</td>
              <td class="muted">{one.address ?? "–"}</td>
              <td title={full(one.created_at)}>{ago(one.created_at)}</td>
              <td title={full(one.used_at)}>{ago(one.used_at)}</td>
              <td class="time">{full(one.expires_at)}</td>
              <td class="acts">
                {onEnd !== undefined && (
                  <button
                    type="button"
                    class="quiet danger"
                    aria-label={`End the session of ${one.operator}`}
                    onClick={() => onEnd(endingOf(one), reload)}
                  >
                    End
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Subjects({ onEnd }: { onEnd: ((ending: Ending, reload: () => void) => void) | undefined }) {
  const after = place.value.query.get("after") ?? undefined;
  const { data, error, reload } = useData(`subjects ${after}`, (abort) =>
    ask<Page<TokenSubject>>("/api/subjects", { limit: PAGE_SIZE, after }, abort),
  );
  if (error) return <Problem error={error} retry={reload} />;
  if (data === undefined) return <Waiting />;
  if (data.data.length === 0 && after === undefined) {
    return (
      <Empty title="No subjects">
        <p>
          Clients can send tokens of your issuer in place of a key. Add the issuer under <code>auth.jwt</code> in the
          configuration.
        </p>
      </Empty>
    );
  }
  return (
    <>
      <section class="wide" tabIndex={0} aria-label="Subjects table">
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Subject</th>
              <th scope="col">Issuer</th>
              <th scope="col">Project</th>
              <th scope="col">Last used</th>
              <th scope="col" class="number">
                Cost this month
              </th>
              <th scope="col">Revoked until</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.data.map((one) => (
              <tr key={one.id}>
                <th scope="row" class="name" title={one.id}>
                  {one.name ?? one.subject}
                  <span class="muted small block">{one.subject}</span>
                </th>
                <td>{one.issuer}</td>
                <td>{one.project ?? "–"}</td>
                <td title={one.used_at === null ? undefined : full(one.used_at)}>
                  {one.used_at === null ? "–" : ago(one.used_at)}
                </td>
                <td class="number">{money(one.spent_nano_usd.month)}</td>
                <td>{one.revoked_until === null ? "–" : full(one.revoked_until)}</td>
                <td class="acts">
                  {onEnd !== undefined && (
                    <button
                      type="button"
                      class="quiet danger"
                      aria-label={`Revoke the tokens of ${one.name ?? one.subject}`}
                      onClick={() => onEnd(revocationOf(one), reload)}
                    >
                      Revoke
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Pager page={data} of="subjects" />
    </>
  );
}

export function People() {
  const [open, setOpen] = useState<{ ending: Ending; reload: () => void } | undefined>(undefined);
  const onEnd =
    session.value?.role === "admin" ? (ending: Ending, reload: () => void) => setOpen({ ending, reload }) : undefined;
  return (
    <>
      <PageHead title="People" />
      <h2>Sessions</h2>
      <Sessions onEnd={onEnd} />
      <h2>Subjects of tokens</h2>
      <Subjects onEnd={onEnd} />
      {open && <EndDialog ending={open.ending} onDone={open.reload} onClose={() => setOpen(undefined)} />}
    </>
  );
}
