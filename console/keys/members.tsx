import { ask, session } from "../api/client.ts";
import type { OperatorItem, Page, TokenSubject } from "../api/types.ts";
import { money } from "../format/money.ts";
import { ago, full } from "../format/time.ts";
import { DataTable } from "../parts/data-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useData } from "../parts/use-data.ts";

interface Member {
  id: string;
  name: string;
  what: string;
  spent: number | null;
  since: string | null;
}

async function membersOf(project: string, abort: AbortSignal): Promise<Member[]> {
  const seesOperators = session.value?.role !== "project";
  const [operators, subjects] = await Promise.all([
    seesOperators ? ask<Page<OperatorItem>>("/api/operators", { project, limit: 500 }, abort) : { data: [] },
    ask<Page<TokenSubject>>("/api/subjects", { project, limit: 500 }, abort),
  ]);
  return [
    ...operators.data
      .filter(({ revoked_at }) => revoked_at === null)
      .map(({ id, name, created_at }) => ({ id, name, what: "operator", spent: null, since: created_at })),
    ...subjects.data.map(({ id, name, subject, used_at, spent_nano_usd }) => ({
      id,
      name: name ?? subject,
      what: "subject of tokens",
      spent: spent_nano_usd.month,
      since: used_at,
    })),
  ];
}

/** Operators of one project do not see the other operators. */
const NoMembers = ({ project }: { project: string }) =>
  session.value?.role === "project" ? (
    <p class="muted">No subject of tokens has called for this project.</p>
  ) : (
    <p class="muted">
      No operator of this project, and no subject of tokens. To add an operator, run{" "}
      <code>trivium operators create NAME --role project --project {project}</code>.
    </p>
  );

/** The operators of one project, and the people whose tokens call for it. */
export function Members({ project }: { project: string }) {
  const loaded = useData(project, (abort) => membersOf(project, abort));
  return (
    <section class="group">
      <h2>Members</h2>
      <Loaded of={loaded} rows={2}>
        {(members) =>
          members.length === 0 ? (
            <NoMembers project={project} />
          ) : (
            <DataTable
              label="Members"
              rows={members}
              keyOf={({ id }) => id}
              columns={[
                { id: "name", title: "Name", cell: ({ name }) => <span title={name}>{name}</span> },
                { id: "what", title: "What", muted: true, cell: ({ what }) => what },
                {
                  id: "since",
                  title: "Created or last used",
                  cell: ({ since }) => (since === null ? "–" : <span title={full(since)}>{ago(since)}</span>),
                },
                {
                  id: "spent",
                  title: "This month (UTC)",
                  kind: "number",
                  cell: ({ spent }) => (spent === null ? "–" : money(spent)),
                },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}
