import { type CostEstimate, reserveBudgets } from "./budget.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { Principal } from "./principal.ts";
import { RateCounters } from "./rate-limits.ts";
import { checkScopes } from "./scopes.ts";
import { type BudgetWindow, SpendMeter } from "./spend-meter.ts";

/** What a call used and cost in the end. */
interface ActualUse {
  costNanoUsd: number;
  tokens: number;
}

/** A request that may be read. It holds a slot among the calls in flight, and counts as one of its key's requests. */
export interface Entry {
  /** Admits the call that the request describes; throws if the key's scopes, tokens or budget do not allow it. */
  admit(call: AdmittedCall): Admission;
  /** The request was refused before its call was admitted. */
  leave(): void;
}

/** A call that was admitted. */
export interface Admission {
  /**
   * Reserves as much again for one more request to a provider that is paid as well: that of a hedge, or the rest of a broken
   * answer. False where the key has no more than that left (H23).
   */
  extend(): boolean;
  /** Called once, at the end: releases what was reserved and counts what was used. */
  release(actual: ActualUse): void;
  /** The time of the call in its receipt and in its budgets: one reading of one clock for both (H30). */
  readonly atMs: number;
  readonly rateHeaders: Readonly<Record<string, string>>;
}

export interface AdmittedCall extends CostEstimate {
  model: string;
  dialect: string;
  estimatedTokens: number;
}

interface AdmissionsOptions {
  /** A monotonic clock, for rates. */
  nowMs: () => number;
  /** The clock of the machine, for money and for expiry. */
  wallMs: () => number;
  /** What the ledger held for the key when the gateway started, in nano-dollars; read from memory. */
  spent: (keyId: string, window: BudgetWindow) => number;
}

/** After this much idle time, nothing in a key's rate counters counts any more. */
const IDLE_MS = 120_000;
const SWEEP_MS = 60_000;
/** The start, and the last few times that the clock was set. */
const MAX_LEARNT = 4;
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Admits calls or refuses them. A decision and its reservation happen in one turn of the event loop, so that
 * parallel calls cannot all pass on the same remainder (H23).
 */
export class Admissions {
  readonly #nowMs: () => number;
  readonly #wallMs: () => number;
  /** What the ledger held, and when it was read; read again after the clock was set. */
  readonly #learnt: { spent: AdmissionsOptions["spent"]; asOfMs: number }[];
  /** Only for keys with limits, and only while they are in use. */
  readonly #counters = new Map<string, RateCounters>();
  /** For each key that has spent since the start, limited or not: a new configuration may add a budget. */
  readonly #meters = new Map<string, SpendMeter>();
  #sweptMs: number;

  constructor(options: AdmissionsOptions) {
    this.#nowMs = options.nowMs;
    this.#wallMs = options.wallMs;
    this.#learnt = [{ spent: options.spent, asOfMs: options.wallMs() }];
    this.#sweptMs = options.nowMs();
  }

  /** How many keys have live rate counters. */
  get trackedKeys(): number {
    return this.#counters.size;
  }

  /** What calls and operations under way hold of their keys' limits. */
  get held(): { calls: number; nanoUsd: number } {
    let calls = 0;
    let nanoUsd = 0;
    for (const { underWay } of this.#counters.values()) calls += underWay;
    for (const { reserved } of this.#meters.values()) nanoUsd += reserved;
    return { calls, nanoUsd };
  }

  /**
   * Counts a request against the rate and the concurrency of its key, or refuses it before its body is read: a caller over a
   * limit must not fill the memory (S17).
   */
  enter(principal: Principal): Entry {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sweptMs >= SWEEP_MS) this.#sweep(nowMs);
    const { keyId, limits } = principal;
    if (!hasBudget(limits) && !hasRateLimit(limits)) return new OpenEntry(principal, this.#wallMs, this.#charge);
    const counters = this.#countersOf(keyId, nowMs);
    counters.enter(principal, nowMs);
    return new LimitedEntry(principal, this.#nowMs, this.#wallMs, counters, this.#meterOf(keyId), nowMs);
  }

  /** Reserves a key's money for work that ends later than the call that began it. */
  hold(keyId: string, costNanoUsd: number): (actualNanoUsd: number, atMs: number) => void {
    const meter = this.#meterOf(keyId);
    meter.reserved += costNanoUsd;
    return (actualNanoUsd, atMs) => {
      meter.reserved -= costNanoUsd;
      meter.add(actualNanoUsd, atMs);
    };
  }

  /** The clock was set: the day and month that it shows now may have receipts that are not counted here. */
  learn(spent: AdmissionsOptions["spent"], asOfMs: number): void {
    this.#learnt.push({ spent, asOfMs });
    if (this.#learnt.length > MAX_LEARNT) this.#learnt.splice(1, 1);
    for (const [keyId, meter] of this.#meters) meter.learn(sumsOf(keyId, spent), asOfMs);
  }

  readonly #charge = (keyId: string, costNanoUsd: number, atMs: number): void => {
    this.#meterOf(keyId).add(costNanoUsd, atMs);
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
      const [atStart, ...later] = this.#learnt;
      if (atStart === undefined) throw new Error("the ledger's sums are known from the start");
      meter = new SpendMeter(sumsOf(keyId, atStart.spent), atStart.asOfMs);
      for (const { spent, asOfMs } of later) meter.learn(sumsOf(keyId, spent), asOfMs);
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

const sumsOf = (keyId: string, spent: AdmissionsOptions["spent"]) => ({
  day: spent(keyId, "day"),
  month: spent(keyId, "month"),
  total: spent(keyId, "total"),
});

type Charge = (keyId: string, costNanoUsd: number, atMs: number) => void;

/** The entry and admission of a key without limits: one small object a call. */
class OpenEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #charge: Charge;
  readonly #wallMs: () => number;
  #released = false;
  atMs = 0;

  constructor(principal: Principal, wallMs: () => number, charge: Charge) {
    this.#principal = principal;
    this.#wallMs = wallMs;
    this.#charge = charge;
  }

  get rateHeaders(): Readonly<Record<string, string>> {
    return NO_HEADERS;
  }

  admit(call: AdmittedCall): Admission {
    this.atMs = this.#wallMs();
    checkScopes(this.#principal, call, this.atMs);
    return this;
  }

  leave(): void {}

  extend(): boolean {
    return true;
  }

  release(actual: ActualUse): void {
    if (this.#released) return;
    this.#released = true;
    if (actual.costNanoUsd > 0) this.#charge(this.#principal.keyId, actual.costNanoUsd, this.atMs);
  }
}

/** The entry and admission of a key with limits. */
class LimitedEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #nowMs: () => number;
  readonly #wallMs: () => number;
  readonly #counters: RateCounters;
  readonly #meter: SpendMeter;
  readonly #enteredMs: number;
  #admitted: { call: AdmittedCall; takenMs: number; costNanoUsd: number } | undefined;
  /** When tokens were taken once more. */
  #extendedMs: number[] | undefined;
  #left = false;
  atMs = 0;
  rateHeaders: Readonly<Record<string, string>> = NO_HEADERS;

  constructor(
    principal: Principal,
    nowMs: () => number,
    wallMs: () => number,
    counters: RateCounters,
    meter: SpendMeter,
    enteredMs: number,
  ) {
    this.#principal = principal;
    this.#nowMs = nowMs;
    this.#wallMs = wallMs;
    this.#counters = counters;
    this.#meter = meter;
    this.#enteredMs = enteredMs;
  }

  admit(call: AdmittedCall): Admission {
    const { limits } = this.#principal;
    const takenMs = this.#nowMs();
    this.atMs = this.#wallMs();
    try {
      checkScopes(this.#principal, call, this.atMs);
      this.#admitted = { call, takenMs, costNanoUsd: this.#take(call, takenMs) };
    } catch (refusal) {
      this.#counters.forget(limits, this.#enteredMs, takenMs);
      throw refusal;
    }
    this.rateHeaders = this.#counters.headers(limits, takenMs);
    return this;
  }

  extend(): boolean {
    const admitted = this.#admitted;
    if (admitted === undefined || this.#left) return false;
    const takenMs = this.#nowMs();
    try {
      admitted.costNanoUsd += this.#take(admitted.call, takenMs);
    } catch {
      return false;
    }
    this.#extendedMs ??= [];
    this.#extendedMs.push(takenMs);
    return true;
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#counters.leave(this.#nowMs());
  }

  release(actual: ActualUse): void {
    const admitted = this.#admitted;
    if (this.#left || admitted === undefined) return;
    this.leave();
    const endMs = this.#nowMs();
    const { limits } = this.#principal;
    const { takenMs, costNanoUsd } = admitted;
    const { estimatedTokens } = admitted.call;
    for (const againMs of this.#extendedMs ?? []) {
      this.#counters.correctTokens(limits, againMs, endMs, estimatedTokens, 0);
    }
    this.#counters.correctTokens(limits, takenMs, endMs, estimatedTokens, actual.tokens);
    this.#meter.reserved -= costNanoUsd;
    this.#meter.add(actual.costNanoUsd, this.atMs);
  }

  /** Takes the tokens and the money of one request to a provider, or neither. Returns the money. */
  #take(call: AdmittedCall, takenMs: number): number {
    const costNanoUsd = hasBudget(this.#principal.limits)
      ? reserveBudgets(this.#principal, this.#meter, call, this.atMs)
      : 0;
    try {
      this.#counters.takeTokens(this.#principal, call.estimatedTokens, takenMs);
    } catch (refusal) {
      this.#meter.reserved -= costNanoUsd;
      throw refusal;
    }
    return costNanoUsd;
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
