import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { Page, Project } from "../api/types.ts";
import { counted, whole } from "../format/numbers.ts";
import { ago, full } from "../format/time.ts";
import { allKeys } from "../keys/all-keys.ts";
import { callsOfWindow } from "../keys/calls-of-window.ts";
import { ProjectForm } from "../keys/project-form.tsx";
import { projectActions, projectAddress } from "../keys/project-menu.ts";
import { RowMenu } from "../keys/row-menu.tsx";
import { SearchField } from "../keys/search-field.tsx";
import { SpendCell } from "../keys/spend-cell.tsx";
import { Empty, PageHead, State } from "../parts/basics.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useData } from "../parts/use-data.ts";
import { budgetOf, tightest } from "../state/budgets.ts";
import { briefRates, rateWords } from "../state/limits.ts";
import { place, setQuery } from "../state/router.ts";

const spentIn = (item: Project, window: "day" | "month"): number => item.spent_nano_usd?.[window] ?? 0;

const spend = (window: "day" | "month", title: string): Column<Project> => ({
  id: window,
  title,
  kind: "number",
  cell: (item) => (
    <SpendCell
      spent={spentIn(item, window)}
      budget={budgetOf(item, window)}
      href={callsOfWindow({ project: item.id }, window)}
    />
  ),
  sortBy: (item) => spentIn(item, window),
});

interface Options {
  /** Undefined until they are counted. */
  keysOf: ReadonlyMap<string, number> | undefined;
  onEdit: ((item: Project) => void) | undefined;
}

const columnsOf = ({ keysOf, onEdit }: Options): Column<Project>[] => [
  {
    id: "name",
    title: "Name",
    cell: ({ id, name }) => (
      <span class="key-name">
        <a href={projectAddress(id)} title={name}>
          {name}
        </a>
        {name !== id && <code class="muted small">{id}</code>}
      </span>
    ),
    sortBy: ({ name }) => name.toLowerCase(),
  },
  {
    id: "status",
    title: "State",
    cell: ({ status }) => <State kind={status === "active" ? "good" : "warn"}>{status}</State>,
    sortBy: ({ status }) => status,
    onPhone: "lead",
  },
  {
    id: "keys",
    title: "Keys",
    kind: "number",
    cell: ({ id }) => (
      <a href={`/keys?${new URLSearchParams({ project: id })}`}>
        {keysOf === undefined ? "–" : whole(keysOf.get(id) ?? 0)}
      </a>
    ),
    sortBy: ({ id }) => keysOf?.get(id) ?? 0,
  },
  spend("day", "Today (UTC)"),
  spend("month", "This month (UTC)"),
  {
    id: "budget",
    title: "Budget used",
    kind: "number",
    cell: (item) => {
      const budget = tightest(item);
      if (budget === undefined) return <span class="muted">–</span>;
      return (
        <>
          {Math.floor(budget.share * 100)}% <span class="muted">{budget.window}</span>
        </>
      );
    },
    sortBy: (item) => tightest(item)?.share ?? null,
  },
  {
    id: "limits",
    title: "Rate limits",
    muted: true,
    onPhone: "hidden",
    cell: ({ limits }) => {
      const words = rateWords(limits);
      return words === "" ? "–" : <span title={words}>{briefRates(limits) || words}</span>;
    },
  },
  {
    id: "created",
    title: "Created",
    cell: ({ created_at }) =>
      created_at === null ? (
        <span class="muted">by the configuration file</span>
      ) : (
        <span title={full(created_at)}>{ago(created_at)}</span>
      ),
    sortBy: ({ created_at }) => (created_at === null ? null : Date.parse(created_at)),
  },
  {
    id: "acts",
    title: "Actions",
    kind: "acts",
    cell: (item) => (
      <RowMenu
        id={`menu-${item.id}`}
        of={item.name}
        items={projectActions(item, {
          seesCalls: session.value?.role !== "project",
          onEdit: onEdit && (() => onEdit(item)),
        })}
      />
    ),
  },
];

/** How many keys of each project work. */
async function countKeys(abort: AbortSignal): Promise<Map<string, number>> {
  const { keys } = await allKeys(abort);
  const counts = new Map<string, number>();
  for (const { project, state } of keys) if (state === "active") counts.set(project, (counts.get(project) ?? 0) + 1);
  return counts;
}

export function Projects() {
  const projects = useData("projects", (abort) => ask<Page<Project>>("/api/projects", { limit: 500 }, abort));
  const keysOf = useData("keys", countKeys);
  const [open, setOpen] = useState<{ item: Project | undefined } | undefined>(undefined);
  const mayChange = session.value?.role === "admin";
  const text = place.value.query.get("text") ?? "";
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    <>
      <PageHead title="Projects">
        {mayChange && (
          <button type="button" class="main" onClick={() => setOpen({ item: undefined })}>
            <Icon name="plus" size={15} /> Create project
          </button>
        )}
      </PageHead>
      <Loaded of={projects}>
        {({ data, next }) => {
          const shown = data.filter(({ id, name }) =>
            words.every((word) => `${id}\n${name}`.toLowerCase().includes(word)),
          );
          if (data.length === 0)
            return (
              <Empty title="No projects">
                <p>
                  A project groups keys: they share its budgets and limits. The first key makes the project default.
                </p>
              </Empty>
            );
          return (
            <>
              <div class="list-filters">
                <SearchField label="Search projects" placeholder="Name or ID" />
              </div>
              {shown.length === 0 ? (
                <Empty title="No project fits">
                  <p>
                    No project matches “{text}”.{" "}
                    <button type="button" onClick={() => setQuery({ text: undefined })}>
                      Show all projects
                    </button>
                  </p>
                </Empty>
              ) : (
                <DataTable
                  label="Projects"
                  class="keys"
                  rows={shown}
                  keyOf={({ id }) => id}
                  columns={columnsOf({
                    keysOf: keysOf.data,
                    onEdit: mayChange ? (item) => setOpen({ item }) : undefined,
                  })}
                  addressOf={({ id }) => projectAddress(id)}
                />
              )}
              <p class="list-foot">
                {counted(shown.length, "project")}
                {next === null ? "" : ", the newest"}. Today and this month are days and months of UTC, as budgets are.
              </p>
            </>
          );
        }}
      </Loaded>
      {open && <ProjectForm item={open.item} onDone={projects.reload} onClose={() => setOpen(undefined)} />}
    </>
  );
}
