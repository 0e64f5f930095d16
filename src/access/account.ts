import type { Cancel } from "../base/clock.ts";
import type { Need, Waiter } from "../leases/leased-window.ts";
import type { LevelName } from "./level.ts";
import type { LimitName } from "./limits.ts";
import { RateWindow } from "./rate-window.ts";
import type { BudgetWindow, SpendMeter } from "./spend-meter.ts";

/** What this process may use of an account's limits, where several processes divide them. */
export interface Share {
  /** A number of calls, requests or tokens; of a budget the nano-dollars that this process may spend in its current window. */
  held(limit: LimitName, wallMs: number): number;
  /** Of a budget: no other process has anything left of it, nor has reserved any. */
  holdsAll(limit: LimitName): boolean;
  /** A call found too little here, although the limit may allow it. */
  short(limit: LimitName, needed: number): void;
  /** The limit as it can be waited for at this moment. */
  window(limit: LimitName): Awaited | undefined;
}

/** A limit of which other processes may give back what a call needs. */
export interface Awaited {
  /** Whether that can be hoped for. */
  mayWait(need: Need): boolean;
  /** There is less of it than the call needs, whoever holds it. */
  lacks(need: Need): boolean;
  /** The others learn of it, until the returned function is called. */
  wait(waiter: Waiter, need: Need): () => void;
  after(ms: number, run: () => void): Cancel;
  /** The call is refused: it has waited for as long as it may. */
  giveUp(need: Need): void;
}

const BUDGET_WINDOW: Readonly<Partial<Record<LimitName, BudgetWindow>>> = {
  budgetUsdPerDay: "day",
  budgetUsdPerMonth: "month",
  budgetUsdTotal: "total",
};

/** What a key, a project or the whole gateway uses here: money always, rates where they are limited. */
export class Account {
  readonly level: LevelName;
  readonly id: string;
  readonly meter: SpendMeter;
  /** Absent: all of every limit may be used here. */
  share: Share | undefined;
  /** Calls under way of keys that any level limits. */
  underWay = 0;
  lastUsedMs = 0;
  readonly requests = new RateWindow();
  readonly tokens = new RateWindow();

  constructor(level: LevelName, id: string, meter: SpendMeter) {
    this.level = level;
    this.id = id;
    this.meter = meter;
  }

  /** What counts against `share.held` now. */
  inUse(limit: LimitName, nowMs: number, wallMs: number): number {
    if (limit === "concurrent") return this.underWay;
    if (limit === "requestsPerMinute") return this.requests.used(nowMs);
    if (limit === "tokensPerMinute") return this.tokens.used(nowMs);
    return this.meter.own(BUDGET_WINDOW[limit] ?? "total", wallMs) + this.meter.reserved;
  }

  /** Nothing in the windows counts any more. */
  dropRates(): void {
    this.requests.drop();
    this.tokens.drop();
  }
}
