import type { DialectName } from "../canon/dialect-name.ts";
import { checkBudgets } from "./budget.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { Principal } from "./principal.ts";
import { RateCounters } from "./rate-limits.ts";
import { checkScopes } from "./scopes.ts";
import { type BudgetWindow, SpendMeter } from "./spend-meter.ts";

/** What a call came to in the end. */
export interface ActualUse {
  costNanoUsd: number;
  tokens: number;
}

/** A call that was let in. */
export interface Admission {
  /** Called once, at the end: what was reserved is given back, what was used is counted. */
  release(actual: ActualUse): void;
  readonly rateHeaders: Readonly<Record<string, string>>;
}

export interface AdmittedCall {
  model: string;
  dialect: DialectName;
  estimatedCostNanoUsd: number;
  estimatedTokens: number;
}

export interface AdmissionsOptions {
  nowMs: () => number;
  /** What the ledger held for the key when the gateway started, in nano-dollars; answered from memory. */
  spent: (keyId: string, window: BudgetWindow) => number;
}

/** After this much idleness nothing that a key's rate counters hold counts any more. */
const IDLE_MS = 120_000;
const SWEEP_MS = 60_000;
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Lets calls in or refuses them. A decision and what it reserves are made in one turn of the event loop, so that
 * parallel calls cannot all pass on the same remainder (H23).
 */
export class Admissions {
  readonly #nowMs: () => number;
  readonly #spentAtStart: AdmissionsOptions["spent"];
  readonly #startedMs: number;
  /** Only of keys with limits, and only while they are in use. */
  readonly #counters = new Map<string, RateCounters>();
  /** Of each key that has spent since the start, limited or not: a budget may come with a new configuration. */
  readonly #meters = new Map<string, SpendMeter>();
  #sweptMs: number;

  constructor(options: AdmissionsOptions) {
    this.#nowMs = options.nowMs;
    this.#spentAtStart = options.spent;
    this.#startedMs = options.nowMs();
    this.#sweptMs = this.#startedMs;
  }

  /** How many keys have live rate counters. */
  get trackedKeys(): number {
    return this.#counters.size;
  }

  admit(principal: Principal, call: AdmittedCall): Admission {
    const nowMs = this.#nowMs();
    checkScopes(principal, call, nowMs);
    if (nowMs - this.#sweptMs >= SWEEP_MS) this.#sweep(nowMs);
    const { keyId, limits } = principal;
    const budgeted = hasBudget(limits);
    if (!budgeted && !hasRateLimit(limits)) return new OpenAdmission(this.#charge, keyId);

    const counters = this.#countersOf(keyId, nowMs);
    const meter = this.#meterOf(keyId);
    counters.check(principal, call.estimatedTokens, nowMs);
    if (budgeted) checkBudgets(principal, meter, call.estimatedCostNanoUsd, nowMs);

    counters.take(limits, call.estimatedTokens, nowMs);
    meter.reserved += call.estimatedCostNanoUsd;
    let released = false;
    return {
      rateHeaders: counters.headers(limits, nowMs),
      release: (actual) => {
        if (released) return;
        released = true;
        const endMs = this.#nowMs();
        counters.end(limits, nowMs, endMs, call.estimatedTokens, actual.tokens);
        meter.reserved -= call.estimatedCostNanoUsd;
        meter.add(actual.costNanoUsd, endMs);
      },
    };
  }

  /** Keeps money of a key aside for something that ends later than the call that began it. */
  hold(keyId: string, costNanoUsd: number): (actualNanoUsd: number) => void {
    const meter = this.#meterOf(keyId);
    meter.reserved += costNanoUsd;
    return (actualNanoUsd) => {
      meter.reserved -= costNanoUsd;
      meter.add(actualNanoUsd, this.#nowMs());
    };
  }

  readonly #charge = (keyId: string, costNanoUsd: number): void => {
    this.#meterOf(keyId).add(costNanoUsd, this.#nowMs());
  };

  #countersOf(keyId: string, nowMs: number): RateCounters {
    let counters = this.#counters.get(keyId);
    if (counters === undefined) {
      counters = new RateCounters(nowMs);
      this.#counters.set(keyId, counters);
    }
    return counters;
  }

  #meterOf(keyId: string): SpendMeter {
    let meter = this.#meters.get(keyId);
    if (meter === undefined) {
      const spent = this.#spentAtStart;
      const atStart = { day: spent(keyId, "day"), month: spent(keyId, "month"), total: spent(keyId, "total") };
      meter = new SpendMeter(atStart, this.#startedMs);
      this.#meters.set(keyId, meter);
    }
    return meter;
  }

  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs;
    for (const [keyId, counters] of this.#counters) {
      if (counters.underWay === 0 && nowMs - counters.lastUsedMs >= IDLE_MS) this.#counters.delete(keyId);
    }
  }
}

/** The admission of a key without limits: one small object a call. */
class OpenAdmission implements Admission {
  readonly #charge: (keyId: string, costNanoUsd: number) => void;
  readonly #keyId: string;
  #released = false;

  constructor(charge: (keyId: string, costNanoUsd: number) => void, keyId: string) {
    this.#charge = charge;
    this.#keyId = keyId;
  }

  get rateHeaders(): Readonly<Record<string, string>> {
    return NO_HEADERS;
  }

  release(actual: ActualUse): void {
    if (this.#released) return;
    this.#released = true;
    if (actual.costNanoUsd > 0) this.#charge(this.#keyId, actual.costNanoUsd);
  }
}

function hasBudget(limits: KeyLimits): boolean {
  return (
    limits.budgetUsdPerDay !== undefined ||
    limits.budgetUsdPerMonth !== undefined ||
    limits.budgetUsdTotal !== undefined
  );
}

function hasRateLimit(limits: KeyLimits): boolean {
  return (
    limits.requestsPerMinute !== undefined || limits.tokensPerMinute !== undefined || limits.concurrent !== undefined
  );
}
