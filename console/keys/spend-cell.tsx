import { money } from "../format/money.ts";
import { BUDGET_KINDS, type Budget, NEAR } from "../state/budgets.ts";

/** The used part of a budget as a bar. Its words are for screen readers; the figures are beside it. */
export const BudgetBar = ({ budget: { share, window } }: { budget: Budget }) => (
  <meter
    class={share >= 1 ? "bar full" : share >= NEAR ? "bar near" : "bar"}
    min={0}
    max={1}
    value={Math.min(1, share)}
    aria-label={`${Math.round(share * 100)}% of the ${BUDGET_KINDS[window]} budget`}
  />
);

/** What was spent in a window, with its budget if there is one. */
export const SpendCell = ({ spent, budget }: { spent: number; budget: Budget | undefined }) => (
  <span class="spend-cell">
    <span class={spent === 0 ? "muted" : undefined}>{money(spent)}</span>
    {budget !== undefined && (
      <>
        <span class="muted"> / {money(budget.limit)}</span>
        <BudgetBar budget={budget} />
      </>
    )}
  </span>
);
