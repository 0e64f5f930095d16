import type { SpentSums } from "../access/admit.ts";
import { type BudgetUse, nanoOf } from "../access/budget.ts";
import type { Level } from "../access/level.ts";
import { BUDGET_WINDOWS, type BudgetWindow } from "../access/spend-meter.ts";
import type { Cancel, Clock } from "../base/clock.ts";

interface BudgetWatchOptions {
  clock: Clock;
  /** All levels that have limits. */
  levels: () => readonly Level[];
  /** What the ledger has of all instances together. */
  spent: (asOfMs: number) => Promise<SpentSums>;
  onProblem: (error: unknown) => void;
  /** Told after each look. */
  onLook?: (uses: readonly BudgetUse[], asOfMs: number) => void;
}

const EVERY_MS = 30_000;
const LIMIT_OF = { day: "budgetUsdPerDay", month: "budgetUsdPerMonth", total: "budgetUsdTotal" } as const;

/** Looks at the ledger now and then, for how far budgets are used by all instances. Where no level has one, nothing is read. */
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

  /** Never rejects; one look at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, levels, spent, onProblem, onLook } = this.#options;
    const budgets = levels().flatMap((level) => BUDGET_WINDOWS.flatMap((window) => budgetOf(level, window)));
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

function budgetOf(level: Level, window: BudgetWindow) {
  const budgetUsd = level.limits[LIMIT_OF[window]];
  return budgetUsd === undefined ? [] : [{ level, window, limitNanoUsd: nanoOf(budgetUsd) }];
}
