/** Days and months are those of UTC. */
export const BUDGET_WINDOWS = ["day", "month", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

const DAY_MS = 86_400_000;
/** This many days and this many months are kept, so that a clock that was set wrong and corrected finds its earlier sums. */
const MAX_WINDOWS = 8;

/**
 * What one key has spent, in nano-dollars, by day, by month and in all. Each amount belongs to the moment in its receipt, and a
 * budget to the day and month of the clock: however the clock is set, a window holds the sum of its receipts (H30).
 */
export class SpendMeter {
  /** Reserved for calls in flight; it counts against every window until they end. */
  reserved = 0;
  #total: number;
  readonly #days = new WindowSums();
  readonly #months = new WindowSums();
  /** Of the amount before, whose month is nearly always that of the next, too. */
  #lastDay = Number.NaN;
  #lastMonth = 0;

  /** `spent` is what the ledger held at `asOfMs`. */
  constructor(spent: Readonly<Record<BudgetWindow, number>>, asOfMs: number) {
    this.#total = spent.total;
    this.learn(spent, asOfMs);
  }

  /** The ledger's sums of another day and month, which may not be known here. */
  learn(spent: Readonly<Record<"day" | "month", number>>, asOfMs: number): void {
    this.#days.atLeast(dayOf(asOfMs), spent.day);
    this.#months.atLeast(monthOf(asOfMs), spent.month);
  }

  /** `atMs` is the moment in the receipt. */
  add(nanoUsd: number, atMs: number): void {
    this.#total += nanoUsd;
    const day = dayOf(atMs);
    if (day !== this.#lastDay) {
      this.#lastDay = day;
      this.#lastMonth = monthOf(atMs);
    }
    this.#days.add(day, nanoUsd);
    this.#months.add(this.#lastMonth, nanoUsd);
  }

  spent(window: BudgetWindow, nowMs: number): number {
    if (window === "total") return this.#total;
    return window === "day" ? this.#days.of(dayOf(nowMs)) : this.#months.of(monthOf(nowMs));
  }
}

/** When the window restarts; a total never does. */
export function windowEndMs(window: BudgetWindow, nowMs: number): number | undefined {
  if (window === "total") return undefined;
  return window === "day" ? (dayOf(nowMs) + 1) * DAY_MS : Date.UTC(1970, monthOf(nowMs) + 1);
}

/** Sums by window number. Beyond the limit, the window farthest from the one used last is dropped. */
class WindowSums {
  readonly #windows: number[] = [];
  readonly #sums: number[] = [];

  of(window: number): number {
    return this.#sums[this.#windows.indexOf(window)] ?? 0;
  }

  add(window: number, amount: number): void {
    this.#set(window, this.of(window) + amount);
  }

  atLeast(window: number, sum: number): void {
    this.#set(window, Math.max(this.of(window), sum));
  }

  #set(window: number, sum: number): void {
    const index = this.#windows.indexOf(window);
    if (index >= 0) {
      this.#sums[index] = sum;
      return;
    }
    this.#windows.push(window);
    this.#sums.push(sum);
    if (this.#windows.length <= MAX_WINDOWS) return;
    const distances = this.#windows.map((one) => Math.abs(one - window));
    const farthest = distances.indexOf(Math.max(...distances));
    this.#windows.splice(farthest, 1);
    this.#sums.splice(farthest, 1);
  }
}

/** Days since 1970. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Months since 1970. */
function monthOf(ms: number): number {
  const date = new Date(ms);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}
