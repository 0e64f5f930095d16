/** Days and months are those of UTC. */
export const BUDGET_WINDOWS = ["day", "month", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

const DAY_MS = 86_400_000;

/** What one key has spent, in nano-dollars, in the running day and month and in all. */
export class SpendMeter {
  /** Promised to calls under way; it counts against every window until they end. */
  reserved = 0;
  readonly #spent: Record<BudgetWindow, number>;
  #dayEndsMs: number;
  #monthEndsMs: number;

  /** `spent` is what the ledger held at `asOfMs`. */
  constructor(spent: Readonly<Record<BudgetWindow, number>>, asOfMs: number) {
    this.#spent = { ...spent };
    this.#dayEndsMs = endOfDay(asOfMs);
    this.#monthEndsMs = endOfMonth(asOfMs);
  }

  add(nanoUsd: number, nowMs: number): void {
    this.#roll(nowMs);
    for (const window of BUDGET_WINDOWS) this.#spent[window] += nanoUsd;
  }

  spent(window: BudgetWindow, nowMs: number): number {
    this.#roll(nowMs);
    return this.#spent[window];
  }

  /** When the window starts anew; a total never does. */
  endsMs(window: BudgetWindow): number | undefined {
    if (window === "total") return undefined;
    return window === "day" ? this.#dayEndsMs : this.#monthEndsMs;
  }

  #roll(nowMs: number): void {
    if (nowMs < this.#dayEndsMs) return;
    this.#spent.day = 0;
    this.#dayEndsMs = endOfDay(nowMs);
    if (nowMs < this.#monthEndsMs) return;
    this.#spent.month = 0;
    this.#monthEndsMs = endOfMonth(nowMs);
  }
}

function endOfDay(ms: number): number {
  return ms - (ms % DAY_MS) + DAY_MS;
}

function endOfMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
