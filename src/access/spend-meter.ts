/** Days and months are those of UTC. */
export const BUDGET_WINDOWS = ["day", "month", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

const DAY_MS = 86_400_000;
/** This many days and this many months are kept, so that a clock that was set wrong and corrected finds its earlier sums. */
const MAX_WINDOWS = 8;

interface NanoBudgets {
  readonly dayNanoUsd: number;
  readonly monthNanoUsd: number;
  readonly totalNanoUsd: number;
}

/**
 * What a key, a project or the gateway has spent, in nano-dollars, by day, by month and in all. Each amount belongs to the moment in its receipt, and a
 * budget to the day and month of the clock: however the clock is set, a window holds the sum of its receipts (H30).
 */
export class SpendMeter {
  /** Reserved for calls in flight; it counts against every window until they end. */
  reserved = 0;
  #total: number;
  readonly #learntTotal: number;
  readonly #days = new WindowSums();
  readonly #months = new WindowSums();

  /** `spent` is what the ledger held at `asOfMs`. */
  constructor(spent: Readonly<Record<BudgetWindow, number>>, asOfMs: number) {
    this.#total = spent.total;
    this.#learntTotal = spent.total;
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
    this.#days.add(dayOf(atMs), nanoUsd);
    this.#months.add(monthOf(atMs), nanoUsd);
  }

  spent(window: BudgetWindow, nowMs: number): number {
    if (window === "total") return this.#total;
    return window === "day" ? this.#days.of(dayOf(nowMs)) : this.#months.of(monthOf(nowMs));
  }

  /** What the tightest of budgets leaves, with what is reserved taken off. Infinity stands for none. */
  left({ dayNanoUsd, monthNanoUsd, totalNanoUsd }: NanoBudgets, nowMs: number): number {
    const ofDay = dayNanoUsd - this.#days.of(dayOf(nowMs));
    const ofMonth = monthNanoUsd - this.#months.of(monthOf(nowMs));
    return Math.min(ofDay, ofMonth, totalNanoUsd - this.#total) - this.reserved;
  }

  /** What this process has spent itself: the sum without what it learnt from the ledger. */
  own(window: BudgetWindow, nowMs: number): number {
    if (window === "total") return this.#total - this.#learntTotal;
    return window === "day" ? this.#days.own(dayOf(nowMs)) : this.#months.own(monthOf(nowMs));
  }
}

/** When the window restarts; a total never does. */
export function windowEndMs(window: BudgetWindow, nowMs: number): number | undefined {
  if (window === "total") return undefined;
  return window === "day" ? (dayOf(nowMs) + 1) * DAY_MS : Date.UTC(1970, monthOf(nowMs) + 1);
}

/** Sums by window number. Beyond the limit, the window farthest from the one used last is dropped. */
class WindowSums {
  /** The one used last, nearly always the one that is asked for: every call asks. */
  #window = Number.NaN;
  #sum = 0;
  /** What of the sum came from the ledger. */
  #learnt = 0;
  readonly #others = new Map<number, { sum: number; learnt: number }>();

  of(window: number): number {
    return window === this.#window ? this.#sum : (this.#others.get(window)?.sum ?? 0);
  }

  own(window: number): number {
    if (window === this.#window) return this.#sum - this.#learnt;
    const { sum, learnt } = this.#others.get(window) ?? NOTHING;
    return sum - learnt;
  }

  add(window: number, amount: number): void {
    if (window !== this.#window) this.#turnTo(window);
    this.#sum += amount;
  }

  atLeast(window: number, sum: number): void {
    if (window !== this.#window) this.#turnTo(window);
    const more = Math.max(0, sum - this.#sum);
    this.#sum += more;
    this.#learnt += more;
  }

  #turnTo(window: number): void {
    if (!Number.isNaN(this.#window)) this.#others.set(this.#window, { sum: this.#sum, learnt: this.#learnt });
    const { sum, learnt } = this.#others.get(window) ?? NOTHING;
    this.#others.delete(window);
    this.#window = window;
    this.#sum = sum;
    this.#learnt = learnt;
    if (this.#others.size < MAX_WINDOWS) return;
    let farthest = window;
    for (const other of this.#others.keys()) {
      if (Math.abs(other - window) > Math.abs(farthest - window)) farthest = other;
    }
    this.#others.delete(farthest);
  }
}

const NOTHING = { sum: 0, learnt: 0 };

/** Days since 1970. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** The day that was asked for last and its month: each call asks for the same one several times. */
const last = { day: Number.NaN, month: 0 };

/** Months since 1970. */
function monthOf(ms: number): number {
  const day = dayOf(ms);
  if (day !== last.day) {
    const date = new Date(ms);
    last.month = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
    last.day = day;
  }
  return last.month;
}
