import { money } from "../format/money.ts";
import type { Budget } from "../state/limits.ts";

const PERIODS = { day: "daily", month: "monthly", total: "total" } as const;

const share = ({ spent, limit }: Budget): number => (limit === undefined || limit === 0 ? 0 : spent / limit);

/** The spend against a budget, as a bar and as figures. */
export const Spend = ({ budget }: { budget: Budget }) => (
  <td class="number spend">
    {money(budget.spent)}
    {budget.limit !== undefined && (
      <>
        <span class="muted"> of {money(budget.limit)}</span>
        <meter
          class={share(budget) >= 1 ? "bar full" : share(budget) >= 0.8 ? "bar near" : "bar"}
          min={0}
          max={1}
          value={Math.min(1, share(budget))}
          aria-label={`${Math.round(share(budget) * 100)}% of the ${PERIODS[budget.name]} budget`}
        />
      </>
    )}
  </td>
);
