/** In UTC. Weeks begin on Monday. */
export const BUDGET_WINDOWS = ["day", "week", "month", "quarter", "total"] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** What the ledger knows of a window: money, or the calls or the tokens of a day. */
export const MEASURES = [...BUDGET_WINDOWS, "requests", "tokens"] as const;
export type Measure = (typeof MEASURES)[number];
/** What was used of each measure. */
export type Use = Readonly<Record<Measure, number>>;

/** The windows that end. */
type Period = Exclude<BudgetWindow, "total">;

const DAY_MS = 86_400_000;
/**
 * The number of windows of each length that are kept, so that a clock that was set wrong and corrected finds its
 * earlier sums.
 */
const MAX_WINDOWS = 8;

interface NanoBudgets {
  readonly dayNanoUsd: number;
  readonly monthNanoUsd: number;
  readonly totalNanoUsd: number;
}

/**
 * The use of a key, a project, the gateway or a part of one: nano-dollars by window and in total, and the calls and
 * tokens of each day. Each amount belongs to the time in its receipt, and a budget to the day and month of the clock:
 * however the clock is set, a window holds the sum of its receipts (H30).
 */
export class SpendMeter {
  /** Reserved for calls in flight; it counts against every window until they end. */
  reserved = 0;
  reservedTokens = 0;
  reservedRequests = 0;
  #total: number;
  #learntTotal: number;
  readonly #days = new Sums();
  readonly #weeks = new Sums();
  readonly #months = new Sums();
  readonly #quarters = new Sums();
  /** The sums of the day counted last, which are nearly always the ones that the next call needs. */
  #day = NOTHING;
  #week = NOTHING;
  #month = NOTHING;
  #quarter = NOTHING;
  /** When that day began. */
  #fromMs = Number.NaN;
  #untilMs = Number.NaN;

  /** `spent` is what the ledger held at `asOfMs`. */
  constructor(spent: Partial<Use>, asOfMs: number) {
    this.#total = spent.total ?? 0;
    this.#learntTotal = this.#total;
    this.learn(spent, asOfMs);
  }

  /** Adds the ledger's sums of another day and month, which may not be known here. */
  learn(spent: Partial<Use>, asOfMs: number): void {
    this.#turnTo(asOfMs);
    const more = Math.max(0, (spent.total ?? 0) - this.#total);
    this.#total += more;
    this.#learntTotal += more;
    raise(this.#day, spent.day);
    raise(this.#week, spent.week);
    raise(this.#month, spent.month);
    raise(this.#quarter, spent.quarter);
    const { requests = 0, tokens = 0 } = spent;
    raiseCounts(this.#day, requests, tokens);
  }

  /**
   * Takes the ledger's sums, of which this process has used `own`, where nothing was known before except what calls in
   * flight have reserved.
   */
  load(spent: Use, own: Use, asOfMs: number): void {
    this.#turnTo(asOfMs);
    this.#total = spent.total;
    this.#learntTotal = spent.total - own.total;
    for (const window of ["day", "week", "month", "quarter"] as const) {
      const sum = this.#open(window);
      sum.nanoUsd = spent[window];
      sum.learnt = spent[window] - own[window];
    }
    this.#day.requests = spent.requests;
    this.#day.learntRequests = spent.requests - own.requests;
    this.#day.tokens = spent.tokens;
    this.#day.learntTokens = spent.tokens - own.tokens;
  }

  /** `atMs` is the time in the receipt. */
  add(nanoUsd: number, atMs: number, tokens = 0, requests = 0): void {
    if (!this.#isWithin(atMs)) this.#turnTo(atMs);
    this.#total += nanoUsd;
    const day = this.#day;
    day.nanoUsd += nanoUsd;
    day.tokens += tokens;
    day.requests += requests;
    this.#week.nanoUsd += nanoUsd;
    this.#month.nanoUsd += nanoUsd;
    this.#quarter.nanoUsd += nanoUsd;
  }

  spent(measure: Measure, nowMs: number): number {
    if (measure === "total") return this.#total;
    if (measure === "requests") return this.#sumOf("day", nowMs).requests;
    if (measure === "tokens") return this.#sumOf("day", nowMs).tokens;
    return this.#sumOf(measure, nowMs).nanoUsd;
  }

  /** What calls in flight may still use of it. */
  reservedOf(measure: Measure): number {
    if (measure === "requests") return this.reservedRequests;
    return measure === "tokens" ? this.reservedTokens : this.reserved;
  }

  /** The remainder of the tightest budget, less what is reserved; Infinity if there is no budget. */
  left({ dayNanoUsd, monthNanoUsd, totalNanoUsd }: NanoBudgets, nowMs: number): number {
    const ofDay = dayNanoUsd - this.#sumOf("day", nowMs).nanoUsd;
    const ofMonth = monthNanoUsd - this.#sumOf("month", nowMs).nanoUsd;
    return Math.min(ofDay, ofMonth, totalNanoUsd - this.#total) - this.reserved;
  }

  /** What this process has spent itself: the sum without what it read from the ledger. */
  own(measure: Measure, nowMs: number): number {
    if (measure === "total") return this.#total - this.#learntTotal;
    const sum = this.#sumOf(measure === "requests" || measure === "tokens" ? "day" : measure, nowMs);
    if (measure === "requests") return sum.requests - sum.learntRequests;
    return measure === "tokens" ? sum.tokens - sum.learntTokens : sum.nanoUsd - sum.learnt;
  }

  /** What it read from the ledger: the spending of others. */
  learnt(measure: Measure, nowMs: number): number {
    return this.spent(measure, nowMs) - this.own(measure, nowMs);
  }

  #isWithin(ms: number): boolean {
    return ms >= this.#fromMs && ms < this.#untilMs;
  }

  #sumOf(period: Period, nowMs: number): Readonly<Sum> {
    if (this.#isWithin(nowMs)) return this.#open(period);
    return this.#sumsOf(period).get(numberOf(period, nowMs)) ?? NOTHING;
  }

  /** That of the day counted last. */
  #open(period: Period): Sum {
    if (period === "day") return this.#day;
    if (period === "month") return this.#month;
    return period === "week" ? this.#week : this.#quarter;
  }

  #sumsOf(period: Period): Sums {
    if (period === "day") return this.#days;
    if (period === "month") return this.#months;
    return period === "week" ? this.#weeks : this.#quarters;
  }

  #turnTo(ms: number): void {
    const day = numberOf("day", ms);
    this.#day = this.#days.open(day);
    this.#week = this.#weeks.open(numberOf("week", ms));
    this.#month = this.#months.open(numberOf("month", ms));
    this.#quarter = this.#quarters.open(numberOf("quarter", ms));
    this.#fromMs = day * DAY_MS;
    this.#untilMs = this.#fromMs + DAY_MS;
  }
}

/** When the window restarts; a total never does. */
export function windowEndMs(window: BudgetWindow, nowMs: number): number | undefined {
  return window === "total" ? undefined : startOfNumber(window, numberOf(window, nowMs) + 1);
}

/** When the window began; 0 for a total. */
export function windowStartMs(window: BudgetWindow, nowMs: number): number {
  return window === "total" ? 0 : startOfNumber(window, numberOf(window, nowMs));
}

/** The spending in a window, and in that of a day the calls and tokens. */
interface Sum {
  nanoUsd: number;
  /** The part that came from the ledger. */
  learnt: number;
  requests: number;
  learntRequests: number;
  tokens: number;
  learntTokens: number;
}

const NOTHING: Sum = { nanoUsd: 0, learnt: 0, requests: 0, learntRequests: 0, tokens: 0, learntTokens: 0 };

function raise(sum: Sum, atLeast = 0): void {
  const more = Math.max(0, atLeast - sum.nanoUsd);
  sum.nanoUsd += more;
  sum.learnt += more;
}

function raiseCounts(sum: Sum, requests: number, tokens: number): void {
  const moreRequests = Math.max(0, requests - sum.requests);
  const moreTokens = Math.max(0, tokens - sum.tokens);
  sum.requests += moreRequests;
  sum.learntRequests += moreRequests;
  sum.tokens += moreTokens;
  sum.learntTokens += moreTokens;
}

/** By window number. Beyond the maximum, the window farthest from the newest is dropped. A list takes less memory than a map. */
class Sums {
  #sums: { window: number; sum: Sum }[] = [];

  get(window: number): Sum | undefined {
    for (const one of this.#sums) if (one.window === window) return one.sum;
    return undefined;
  }

  open(window: number): Sum {
    let sum = this.get(window);
    if (sum === undefined) {
      sum = { ...NOTHING };
      this.#sums.push({ window, sum });
    }
    if (this.#sums.length <= MAX_WINDOWS) return sum;
    let farthest = window;
    for (const other of this.#sums) {
      if (Math.abs(other.window - window) > Math.abs(farthest - window)) farthest = other.window;
    }
    this.#sums = this.#sums.filter((one) => one.window !== farthest);
    return sum;
  }
}

const MONTHS_PER_QUARTER = 3;
const DAYS_PER_WEEK = 7;
/** The first of January 1970 was a Thursday: with this, weeks begin on Monday. */
const DAYS_SINCE_MONDAY = 3;

/** Days, weeks, months or quarters since 1970. */
function numberOf(period: Period, ms: number): number {
  const day = Math.floor(ms / DAY_MS);
  if (period === "day") return day;
  if (period === "week") return Math.floor((day + DAYS_SINCE_MONDAY) / DAYS_PER_WEEK);
  const date = new Date(ms);
  const month = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  return period === "month" ? month : Math.floor(month / MONTHS_PER_QUARTER);
}

function startOfNumber(period: Period, number: number): number {
  if (period === "day") return number * DAY_MS;
  if (period === "week") return (number * DAYS_PER_WEEK - DAYS_SINCE_MONDAY) * DAY_MS;
  return Date.UTC(1970, period === "month" ? number : number * MONTHS_PER_QUARTER);
}
