import { useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { ListedKey, Page, Project } from "../api/types.ts";
import { money } from "../format/money.ts";
import { percent } from "../format/numbers.ts";
import { about, full } from "../format/time.ts";
import { State } from "./basics.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { useData } from "./use-data.ts";

type ApiBudget = ListedKey["budgets"][number];

interface Budget extends ApiBudget {
  id: string;
  name: string;
  level: "key" | "project";
}

const MOST = 6;
const WINDOWS = { day: "day", week: "week", month: "month", quarter: "quarter", total: "in total" } as const;

const isOver = ({ used_percent: used }: Budget): boolean => used >= 100;
const isNear = ({ used_percent: used, exceeds_at: exceedsAt }: Budget): boolean => used >= 80 || exceedsAt !== null;

/** Used up first, then what will be before its end, then by the used part. */
const urgency = (budget: Budget): number =>
  (isOver(budget) ? 2_000_000 : isNear(budget) ? 1_000_000 : 0) + budget.used_percent;

function Prospect({ budget }: { budget: Budget }) {
  const { exceeds_at: exceedsAt, forecast_nano_usd: forecast } = budget;
  if (isOver(budget)) return <State kind="bad">used up</State>;
  if (exceedsAt !== null)
    return (
      <State kind="warn">
        <span title={full(exceedsAt)}>used up {about(exceedsAt)}</span>
      </State>
    );
  if (forecast === null) return <span class="muted">–</span>;
  return <>{money(forecast)}</>;
}

const COLUMNS: readonly Column<Budget>[] = [
  {
    id: "budget",
    title: "Budget of",
    cell: ({ id, name, level }) => (
      <>
        <a
          href={
            level === "key"
              ? `/keys/${encodeURIComponent(id)}`
              : `/usage?${new URLSearchParams({ q: `project:${id}`, by: "day,key" })}`
          }
        >
          {name}
        </a>{" "}
        <span class="muted">{level}</span>
      </>
    ),
  },
  { id: "window", title: "Per", cell: ({ window }) => WINDOWS[window] },
  {
    id: "used",
    title: "Used",
    cell: (budget) => (
      <span class="share-of">
        <meter
          class={isOver(budget) ? "bar full" : isNear(budget) ? "bar near" : "bar"}
          min={0}
          max={100}
          value={Math.min(100, budget.used_percent)}
          aria-hidden="true"
        />
        {percent(budget.spent_nano_usd, budget.limit_nano_usd)}
      </span>
    ),
  },
  { id: "spent", title: "Spent", kind: "number", cell: ({ spent_nano_usd: spent }) => money(spent) },
  { id: "limit", title: "Budget", kind: "number", cell: ({ limit_nano_usd: limit }) => money(limit) },
  {
    id: "ends",
    title: "Ends",
    cell: ({ ends_at: endsAt }) => (endsAt === null ? <span class="muted">never</span> : about(endsAt)),
  },
  {
    id: "forecast",
    title: "At its end",
    kind: "number",
    cell: (budget) => <Prospect budget={budget} />,
    onPhone: "lead",
  },
];

async function load(abort: AbortSignal): Promise<Budget[]> {
  const [keys, projects] = await Promise.all([
    ask<Page<ListedKey>>("/api/keys", { limit: 500, state: "active" }, abort),
    ask<Page<Project>>("/api/projects", {}, abort),
  ]);
  const of = (level: Budget["level"], items: readonly (ListedKey | Project)[]): Budget[] =>
    items.flatMap(({ id, name, budgets = [] }) =>
      budgets.map((budget) => ({ ...budget, id, name: name || id, level })),
    );
  return [...of("project", projects.data), ...of("key", keys.data)].sort((one, other) => urgency(other) - urgency(one));
}

/** How much of each budget is used, and how much will be at the end of its period at the present rate. */
export function Budgets() {
  const { data } = useData("budgets", load);
  const [all, setAll] = useState(false);
  if (data === undefined || data.length === 0) return null;
  return (
    <section class="below">
      <h2>Budgets</h2>
      <p class="muted note">
        Their periods are those of UTC, whatever the range above. The forecast continues the spending of the period so
        far.
      </p>
      <DataTable
        label="Budgets"
        rows={all ? data : data.slice(0, MOST)}
        keyOf={({ level, id, window }) => `${level} ${id} ${window}`}
        columns={COLUMNS}
      />
      {data.length > MOST && (
        <p class="pager">
          <button type="button" onClick={() => setAll(!all)}>
            {all ? "Show fewer" : `Show all ${data.length}`}
          </button>
        </p>
      )}
    </section>
  );
}
