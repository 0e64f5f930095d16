import type { Cancel } from "../base/clock.ts";
import type { Need, Waiter } from "../leases/leased-window.ts";
import { measureOf } from "./budget.ts";
import type { LevelName } from "./level.ts";
import type { LimitName } from "./limits.ts";
import { RateWindow } from "./rate-window.ts";
import type { SpendMeter } from "./spend-meter.ts";

/** What this process may use of an account's limits when several processes share them. */
export interface Share {
  /**
   * A number of calls, requests or tokens; for a budget, the nano-dollars that this process may spend in its current
   * window.
   */
  held(limit: LimitName, wallMs: number): number;
  /** What no process has used of the limit, as far as is known here: for people and SDKs, not for admission. */
  left(limit: LimitName, wallMs: number): number;
  /** For a budget: no other process holds or has reserved any of it. */
  holdsAll(limit: LimitName): boolean;
  /** A call found too little here, although the limit as a whole may allow it. */
  short(limit: LimitName, needed: number): void;
  /** The limit in its current window, for calls to wait on. */
  window(limit: LimitName): Awaited | undefined;
}

/** A limit of which other processes may give back what a call needs. */
export interface Awaited {
  /** Whether waiting can succeed. */
  mayWait(need: Need): boolean;
  /** All processes together hold less than the call needs. */
  lacks(need: Need): boolean;
  /** Announces the need to the other processes until the returned function is called. */
  wait(waiter: Waiter, need: Need): () => void;
  after(ms: number, run: () => void): Cancel;
  /** The call is refused after waiting as long as it may. */
  giveUp(need: Need): void;
}

/** The use of a key, a project, the whole gateway or a part of one in this process: money always, rates if they are limited. */
export class Account {
  readonly level: LevelName;
  readonly id: string;
  readonly meter: SpendMeter;
  /** Absent: this process may use all of every limit. */
  share: Share | undefined;
  /** Calls in flight, of keys that any level limits. */
  inFlight = 0;
  /** Open live connections. */
  sessions = 0;
  lastUsedMs = 0;
  readonly requests = new RateWindow();
  readonly tokens = new RateWindow();

  constructor(level: LevelName, id: string, meter: SpendMeter) {
    this.level = level;
    this.id = id;
    this.meter = meter;
  }

  /** The use that counts against `share.held` now. */
  inUse(limit: LimitName, nowMs: number, wallMs: number): number {
    if (limit === "concurrent") return this.inFlight;
    if (limit === "sessions") return this.sessions;
    if (limit === "requestsPerMinute") return this.requests.used(nowMs);
    if (limit === "tokensPerMinute") return this.tokens.used(nowMs);
    const measure = measureOf(limit) ?? "total";
    return this.meter.own(measure, wallMs) + this.meter.reservedOf(measure);
  }

  /** Drops the rate windows once nothing in them counts. */
  dropRates(): void {
    this.requests.drop();
    this.tokens.drop();
  }
}
