import type { SpentSums } from "../access/admit.ts";
import { type BudgetUse, budgetsOf, isMoney } from "../access/budget.ts";
import type { Level } from "../access/level.ts";
import type { Cancel, Clock } from "../base/clock.ts";

interface BudgetWatchOptions {
  clock: Clock;
  /** Every level that has limits. */
  levels: () => readonly Level[];
  /** The spending of all instances, from the ledger. */
  spent: (asOfMs: number) => Promise<SpentSums>;
  onProblem: (error: unknown) => void;
  /** Called after each check. */
  onLook?: (uses: readonly BudgetUse[], asOfMs: number) => void;
}

const EVERY_MS = 30_000;

/** Checks the ledger regularly for how much of each budget all instances have used. Without budgets nothing is read. */
export class BudgetWatch {
  readonly #options: BudgetWatchOptions;
  #looking: Promise<void> | undefined;
  uses: readonly BudgetUse[] = [];

  constructor(options: BudgetWatchOptions) {
    this.#options = options;
  }

  start(): Cancel {
    void this.look();
    return this.#options.clock.every(EVERY_MS, () => void this.look(), { background: true });
  }

  /** Never rejects; one check at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, levels, spent, onProblem, onLook } = this.#options;
    const budgets = levels().flatMap(moneyBudgets);
    const asOfMs = clock.wallMs();
    try {
      const sums = budgets.length === 0 ? undefined : await spent(asOfMs);
      this.uses = budgets.map(({ level, window, limitNanoUsd }) => {
        const spentNanoUsd = sums?.(level.level, level.id, window) ?? 0;
        const ratio = limitNanoUsd > 0 ? spentNanoUsd / limitNanoUsd : 1;
        return { level: level.level, id: level.id, name: level.name, window, spentNanoUsd, limitNanoUsd, ratio };
      });
      onLook?.(this.uses, asOfMs);
    } catch (error) {
      onProblem(error);
    }
  }
}

const moneyBudgets = (level: Level) =>
  budgetsOf(level.limits).flatMap(({ measure, amount }) =>
    isMoney(measure) ? [{ level, window: measure, limitNanoUsd: amount }] : [],
  );
