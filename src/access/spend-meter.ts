/** Days and months in UTC. */
export const BUDGET_WINDOWS = ["day", "month", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

const DAY_MS = 86_400_000;
/**
 * The number of days and months that are kept, so that a clock that was set wrong and corrected finds its earlier
 * sums.
 */
const MAX_WINDOWS = 8;

interface NanoBudgets {
  readonly dayNanoUsd: number;
  readonly monthNanoUsd: number;
  readonly totalNanoUsd: number;
}

/**
 * Spending of a key, a project or the gateway, in nano-dollars, by day, by month and in total. Each amount belongs to
 * the time in its receipt, and a budget to the day and month of the clock: however the clock is set, a window holds
 * the sum of its receipts (H30).
 */
export class SpendMeter {
  /** Reserved for calls in flight; it counts against every window until they end. */
  reserved = 0;
  #total: number;
  readonly #learntTotal: number;
  readonly #days = new Sums();
  readonly #months = new Sums();
  /** The sum of the day counted last, which is nearly always the one that the next call needs. */
  #day = NOTHING;
  #month = NOTHING;
  /** When that day began. */
  #fromMs = Number.NaN;
  #untilMs = Number.NaN;

  /** `spent` is what the ledger held at `asOfMs`. */
  constructor(spent: Readonly<Record<BudgetWindow, number>>, asOfMs: number) {
    this.#total = spent.total;
    this.#learntTotal = spent.total;
    this.learn(spent, asOfMs);
  }

  /** Adds the ledger's sums of another day and month, which may not be known here. */
  learn(spent: Readonly<Record<"day" | "month", number>>, asOfMs: number): void {
    this.#turnTo(asOfMs);
    raise(this.#day, spent.day);
    raise(this.#month, spent.month);
  }

  /** `atMs` is the time in the receipt. */
  add(nanoUsd: number, atMs: number): void {
    if (!this.#isWithin(atMs)) this.#turnTo(atMs);
    this.#total += nanoUsd;
    this.#day.nanoUsd += nanoUsd;
    this.#month.nanoUsd += nanoUsd;
  }

  spent(window: BudgetWindow, nowMs: number): number {
    return window === "total" ? this.#total : this.#sumOf(window, nowMs).nanoUsd;
  }

  /** The remainder of the tightest budget, less what is reserved; Infinity if there is no budget. */
  left({ dayNanoUsd, monthNanoUsd, totalNanoUsd }: NanoBudgets, nowMs: number): number {
    const ofDay = dayNanoUsd - this.#sumOf("day", nowMs).nanoUsd;
    const ofMonth = monthNanoUsd - this.#sumOf("month", nowMs).nanoUsd;
    return Math.min(ofDay, ofMonth, totalNanoUsd - this.#total) - this.reserved;
  }

  /** What this process has spent itself: the sum without what it read from the ledger. */
  own(window: BudgetWindow, nowMs: number): number {
    if (window === "total") return this.#total - this.#learntTotal;
    const { nanoUsd, learnt } = this.#sumOf(window, nowMs);
    return nanoUsd - learnt;
  }

  #isWithin(ms: number): boolean {
    return ms >= this.#fromMs && ms < this.#untilMs;
  }

  #sumOf(window: "day" | "month", nowMs: number): Readonly<Sum> {
    if (this.#isWithin(nowMs)) return window === "day" ? this.#day : this.#month;
    return (window === "day" ? this.#days.get(dayOf(nowMs)) : this.#months.get(monthOf(nowMs))) ?? NOTHING;
  }

  #turnTo(ms: number): void {
    const day = dayOf(ms);
    this.#day = this.#days.open(day);
    this.#month = this.#months.open(monthOf(ms));
    this.#fromMs = day * DAY_MS;
    this.#untilMs = this.#fromMs + DAY_MS;
  }
}

/** When the window restarts; a total never does. */
export function windowEndMs(window: BudgetWindow, nowMs: number): number | undefined {
  if (window === "total") return undefined;
  return window === "day" ? (dayOf(nowMs) + 1) * DAY_MS : Date.UTC(1970, monthOf(nowMs) + 1);
}

/** The spending in a window. */
interface Sum {
  nanoUsd: number;
  /** The part that came from the ledger. */
  learnt: number;
}

const NOTHING: Sum = { nanoUsd: 0, learnt: 0 };

function raise(sum: Sum, atLeast: number): void {
  const more = Math.max(0, atLeast - sum.nanoUsd);
  sum.nanoUsd += more;
  sum.learnt += more;
}

/** By window number. Beyond the maximum, the window farthest from the newest is dropped. */
class Sums {
  readonly #sums = new Map<number, Sum>();

  get(window: number): Sum | undefined {
    return this.#sums.get(window);
  }

  open(window: number): Sum {
    let sum = this.#sums.get(window);
    if (sum === undefined) {
      sum = { ...NOTHING };
      this.#sums.set(window, sum);
    }
    if (this.#sums.size <= MAX_WINDOWS) return sum;
    let farthest = window;
    for (const other of this.#sums.keys()) {
      if (Math.abs(other - window) > Math.abs(farthest - window)) farthest = other;
    }
    this.#sums.delete(farthest);
    return sum;
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
