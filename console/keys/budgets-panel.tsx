import { money } from "../format/money.ts";
import { ago, full } from "../format/time.ts";
import { State } from "../parts/basics.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { type Budget, NEAR, WINDOW_NAMES } from "../state/budgets.ts";
import type { Forecast } from "../state/forecast.ts";
import { callsOfWindow } from "./calls-of-window.ts";
import type { Owner } from "./owner-spend.tsx";
import { SpendCell } from "./spend-cell.tsx";

/** A budget that calls count against, and whose it is. */
export interface BudgetRow {
  /** `this key`, `project Web shop`, … */
  whose: string;
  href?: string | undefined;
  budget: Budget;
  /** Whose calls count against it. */
  owner: Owner;
  /** As the API says; absent where it says nothing. */
  forecast: Forecast | undefined;
}

const stateOf = ({ budget: { share }, forecast }: BudgetRow) =>
  share >= 1
    ? ({ kind: "bad", text: "used up" } as const)
    : share >= NEAR
      ? ({ kind: "warn", text: "near its end" } as const)
      : forecast?.exceeds_at != null
        ? ({ kind: "warn", text: "will not last" } as const)
        : ({ kind: "good", text: "within" } as const);

/** The budgets that apply to calls of a key or a project: what is used, and what will be at the end of the window. */
export const BudgetsPanel = ({ rows }: { rows: readonly BudgetRow[] }) => (
  <DataTable
    label="Budgets"
    class="budgets"
    rows={rows}
    keyOf={({ whose, budget }) => `${whose} ${budget.window}`}
    columns={[
      {
        id: "window",
        title: "Budget",
        cell: ({ budget }) => WINDOW_NAMES[budget.window],
      },
      {
        id: "state",
        title: "State",
        cell: (row) => <State kind={stateOf(row).kind}>{stateOf(row).text}</State>,
        onPhone: "lead",
      },
      {
        id: "whose",
        title: "Of",
        muted: true,
        cell: ({ whose, href }) => (href === undefined ? whose : <a href={href}>{whose}</a>),
      },
      {
        id: "used",
        title: "Used",
        kind: "number",
        cell: ({ budget, owner }) => (
          <SpendCell spent={budget.spent} budget={budget} href={callsOfWindow(owner, budget.window)} />
        ),
      },
      { id: "share", title: "Share", kind: "number", cell: ({ budget }) => `${Math.floor(budget.share * 100)}%` },
      {
        id: "forecast",
        title: "Forecast",
        kind: "number",
        cell: ({ forecast }) =>
          forecast?.nano_usd == null ? (
            "–"
          ) : (
            <span title="What will be spent by the end if it goes on at this rate">{money(forecast.nano_usd)}</span>
          ),
      },
      {
        id: "ends",
        title: "Ends (UTC)",
        cell: ({ forecast }) =>
          forecast?.exceeds_at != null ? (
            <span title={full(forecast.exceeds_at)}>used up {ago(forecast.exceeds_at)}</span>
          ) : forecast?.ends_at != null ? (
            <span class="muted" title={full(forecast.ends_at)}>
              begins anew {ago(forecast.ends_at)}
            </span>
          ) : (
            <span class="muted">–</span>
          ),
      },
    ]}
  />
);
