import { useState } from "preact/hooks";
import { ask, change, session } from "../api/client.ts";
import type { OpenSession, OperatorItem, Page, TokenSubject } from "../api/types.ts";
import { money } from "../format/money.ts";
import { ago, full } from "../format/time.ts";
import { Empty, PageHead, State } from "../parts/basics.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FormProblem, useSending } from "../parts/key-forms.tsx";
import { Loaded } from "../parts/loaded.tsx";
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

type OnEnd = ((ending: Ending, reload: () => void) => void) | undefined;

const moment = (at: string | null) => (at === null ? "–" : <span title={full(at)}>{ago(at)}</span>);

function Sessions({ onEnd }: { onEnd: OnEnd }) {
  const loaded = useData("sessions", (abort) => ask<Page<OpenSession>>("/api/sessions", { limit: 500 }, abort));
  return (
    <Loaded of={loaded} rows={2}>
      {({ data }) => (
        <DataTable
          label="Sessions"
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            {
              id: "operator",
              title: "Operator",
              cell: ({ operator, subject }) => (
                <span title={subject ?? operator}>
                  {operator} {subject !== null && <span class="muted small">{subject}</span>}
                </span>
              ),
            },
            {
              id: "role",
              title: "Role",
              cell: ({ role, project }) => (project === null ? role : `${role} ${project}`),
              onPhone: "lead",
            },
            { id: "by", title: "Logged in with", cell: ({ issuer }) => issuer ?? "a secret" },
            { id: "address", title: "IP address", muted: true, cell: ({ address }) => address ?? "–" },
            { id: "opened", title: "Opened", cell: ({ created_at }) => moment(created_at) },
            { id: "used", title: "Last used", cell: ({ used_at }) => moment(used_at) },
            { id: "ends", title: "Ends", cell: ({ expires_at }) => moment(expires_at) },
            {
              id: "acts",
              title: "Actions",
              kind: "acts",
              cell: (one) =>
                onEnd !== undefined && (
                  <button
                    type="button"
                    class="quiet danger"
                    aria-label={`End the session of ${one.operator}`}
                    onClick={() => onEnd(endingOf(one), loaded.reload)}
                  >
                    End
                  </button>
                ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}

function Operators() {
  const loaded = useData("operators", (abort) => ask<Page<OperatorItem>>("/api/operators", { limit: 500 }, abort));
  return (
    <Loaded of={loaded} rows={2}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No operators of their own">
            <p>
              Everybody logs in with the admin secret or at your issuer. To give someone a secret and a role, run{" "}
              <code>trivium operators create NAME --role viewer</code>.
            </p>
          </Empty>
        ) : (
          <DataTable
            label="Operators"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                id: "name",
                title: "Name",
                cell: ({ name, hint }) => (
                  <span title={name}>
                    {name} <code class="muted small">…{hint}</code>
                  </span>
                ),
              },
              {
                id: "state",
                title: "State",
                cell: ({ revoked_at }) =>
                  revoked_at === null ? (
                    <State kind="good">active</State>
                  ) : (
                    <span title={full(revoked_at)}>
                      <State kind="idle">revoked</State>
                    </span>
                  ),
                onPhone: "lead",
              },
              { id: "role", title: "Role", cell: ({ role }) => role },
              {
                id: "project",
                title: "Project",
                cell: ({ project }) =>
                  project === null ? (
                    <span class="muted">all</span>
                  ) : (
                    <a href={`/projects/${encodeURIComponent(project)}`}>{project}</a>
                  ),
              },
              { id: "created", title: "Created", cell: ({ created_at }) => moment(created_at) },
            ]}
          />
        )
      }
    </Loaded>
  );
}

function Subjects({ onEnd }: { onEnd: OnEnd }) {
  const after = place.value.query.get("after") ?? undefined;
  const loaded = useData(`subjects ${after}`, (abort) =>
    ask<Page<TokenSubject>>("/api/subjects", { limit: PAGE_SIZE, after }, abort),
  );
  return (
    <Loaded of={loaded} rows={2}>
      {(page) =>
        page.data.length === 0 && after === undefined ? (
          <Empty title="No subjects">
            <p>
              Clients can send tokens of your issuer in place of a key. Add the issuer under <code>auth.jwt</code> in
              the configuration.
            </p>
          </Empty>
        ) : (
          <>
            <DataTable
              label="Subjects of tokens"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                {
                  id: "subject",
                  title: "Subject",
                  cell: ({ name, subject }) => (
                    <span title={subject}>
                      {name ?? subject} {name !== null && <span class="muted small">{subject}</span>}
                    </span>
                  ),
                },
                { id: "issuer", title: "Issuer", muted: true, cell: ({ issuer }) => issuer },
                { id: "project", title: "Project", cell: ({ project }) => project ?? "–" },
                { id: "used", title: "Last used", cell: ({ used_at }) => moment(used_at) },
                {
                  id: "month",
                  title: "This month (UTC)",
                  kind: "number",
                  cell: ({ spent_nano_usd }) => money(spent_nano_usd.month),
                  onPhone: "lead",
                },
                {
                  id: "revoked",
                  title: "Tokens refused until",
                  cell: ({ revoked_until }) => (revoked_until === null ? "–" : full(revoked_until)),
                },
                {
                  id: "acts",
                  title: "Actions",
                  kind: "acts",
                  cell: (one) =>
                    onEnd !== undefined && (
                      <button
                        type="button"
                        class="quiet danger"
                        aria-label={`Revoke the tokens of ${one.name ?? one.subject}`}
                        onClick={() => onEnd(revocationOf(one), loaded.reload)}
                      >
                        Revoke
                      </button>
                    ),
                },
              ]}
            />
            <Pager page={page} of="subjects" />
          </>
        )
      }
    </Loaded>
  );
}

export function People() {
  const [open, setOpen] = useState<{ ending: Ending; reload: () => void } | undefined>(undefined);
  const onEnd =
    session.value?.role === "admin" ? (ending: Ending, reload: () => void) => setOpen({ ending, reload }) : undefined;
  return (
    <>
      <PageHead title="People" />
      <section class="group">
        <h2>Sessions</h2>
        <Sessions onEnd={onEnd} />
      </section>
      <section class="group">
        <h2>Operators</h2>
        <Operators />
      </section>
      <section class="group">
        <h2>Subjects of tokens</h2>
        <Subjects onEnd={onEnd} />
      </section>
      {open && <EndDialog ending={open.ending} onDone={open.reload} onClose={() => setOpen(undefined)} />}
    </>
  );
}
