import { money } from "../format/money.ts";
import { BUDGET_KINDS, type Budget, NEAR } from "../state/budgets.ts";

/** The used part of a budget as a bar. Its words are for screen readers; the figures are beside it. */
const BudgetBar = ({ budget: { share, window } }: { budget: Budget }) => (
  <meter
    class={share >= 1 ? "bar full" : share >= NEAR ? "bar near" : "bar"}
    min={0}
    max={1}
    value={Math.min(1, share)}
    aria-label={`${Math.round(share * 100)}% of the ${BUDGET_KINDS[window]} budget`}
  />
);

interface SpendCellProps {
  spent: number;
  budget: Budget | undefined;
  /** The calls that it counts. */
  href: string | undefined;
}

/** What was spent in a window, with its budget if there is one. */
export const SpendCell = ({ spent, budget, href }: SpendCellProps) => (
  <span class="spend-cell">
    {spent === 0 || href === undefined ? (
      <span class={spent === 0 ? "muted" : undefined}>{money(spent)}</span>
    ) : (
      <a href={href}>{money(spent)}</a>
    )}
    {budget !== undefined && (
      <>
        <span class="muted"> / {money(budget.limit)}</span>
        <BudgetBar budget={budget} />
      </>
    )}
  </span>
);
