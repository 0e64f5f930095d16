import type { Key } from "../api/types.ts";
import { ago, full } from "../format/time.ts";
import { State } from "../parts/basics.tsx";
import type { Column } from "../parts/data-table.tsx";
import { budgetOf, tightest } from "../state/budgets.ts";
import { briefRates, rateWords } from "../state/limits.ts";
import { callsOfWindow } from "./calls-of-window.ts";
import type { StatedKey } from "./key-filter.ts";
import { type KeyAct, keyActions, keyAddress } from "./key-menu.ts";
import { gravity } from "./key-state.ts";
import { RowMenu } from "./row-menu.tsx";
import { SpendCell } from "./spend-cell.tsx";

const spentIn = (key: Key, window: "day" | "month"): number => key.spent_nano_usd?.[window] ?? 0;

const spend = (window: "day" | "month", title: string): Column<StatedKey> => ({
  id: window,
  title,
  kind: "number",
  cell: ({ key }) => (
    <SpendCell
      spent={spentIn(key, window)}
      budget={budgetOf(key, window)}
      href={callsOfWindow({ key: key.id }, window)}
    />
  ),
  sortBy: ({ key }) => spentIn(key, window),
});

interface Options {
  seesCalls: boolean;
  nameOfProject: (id: string) => string;
  onAct: ((item: Key, act: KeyAct) => void) | undefined;
}

/** The columns of the list of keys. Budgets, and so "today", are of UTC. */
export const keyColumns = ({ seesCalls, nameOfProject, onAct }: Options): Column<StatedKey>[] => [
  {
    id: "name",
    title: "Name",
    cell: ({ key }) => (
      <span class="key-name">
        <a href={keyAddress(key.id)} title={key.name}>
          {key.name}
        </a>
        <code class="muted small">…{key.hint}</code>
        {key.from === "file" && <span class="muted small">file</span>}
      </span>
    ),
    sortBy: ({ key }) => key.name.toLowerCase(),
  },
  {
    id: "state",
    title: "State",
    cell: ({ states: [state, ...others] }) =>
      state && (
        <span title={[state, ...others].map(({ why }) => why).join(" ")}>
          <State kind={state.kind}>{state.text}</State>
          {others.length > 0 && <span class="muted small"> +{others.length}</span>}
        </span>
      ),
    sortBy: ({ states: [state] }) => (state === undefined ? null : gravity(state)),
    onPhone: "lead",
  },
  spend("day", "Today (UTC)"),
  spend("month", "This month (UTC)"),
  {
    id: "budget",
    title: "Budget used",
    room: 900,
    kind: "number",
    cell: ({ key }) => {
      const budget = tightest(key);
      if (budget === undefined) return <span class="muted">–</span>;
      return (
        <span title={`Of the ${budget.window} budget, the one with the least left`}>
          {Math.floor(budget.share * 100)}% <span class="muted">{budget.window}</span>
        </span>
      );
    },
    sortBy: ({ key }) => tightest(key)?.share ?? null,
  },
  {
    id: "project",
    title: "Project",
    room: 900,
    cell: ({ key: { project } }) => (
      <a class="cut" href={`/projects/${encodeURIComponent(project)}`} title={nameOfProject(project)}>
        {nameOfProject(project)}
      </a>
    ),
    sortBy: ({ key }) => key.project,
  },
  {
    id: "limits",
    title: "Rate limits",
    room: 1100,
    muted: true,
    onPhone: "hidden",
    cell: ({ key }) => {
      const words = rateWords(key.limits);
      return words === "" ? (
        "–"
      ) : (
        <span class="cut" title={words}>
          {briefRates(key.limits) || words}
        </span>
      );
    },
  },
  {
    id: "used",
    title: "Last used",
    cell: ({ key: { last_used_at, from } }) =>
      last_used_at === null ? (
        <span class="muted">{from === "file" ? "–" : "never"}</span>
      ) : (
        <span title={full(last_used_at)}>{ago(last_used_at)}</span>
      ),
    sortBy: ({ key }) => (key.last_used_at === null ? null : Date.parse(key.last_used_at)),
  },
  {
    id: "acts",
    title: "Actions",
    kind: "acts",
    cell: ({ key }) => (
      <RowMenu
        id={`menu-${key.id}`}
        of={key.name}
        items={keyActions(key, { seesCalls, onAct: onAct && ((act) => onAct(key, act)) })}
      />
    ),
  },
];
