import type { Account } from "./account.ts";
import type { Bound } from "./bound.ts";
import { type CostEstimate, checkBudgets, reservedFor } from "./check-budgets.ts";
import type { Principal } from "./principal.ts";
import { addRateHeaders, checkTokens } from "./rate-limits.ts";
import { checkScopes } from "./scopes.ts";
import { whenShared } from "./share-refusal.ts";
import { withNeeds } from "./shared-needs.ts";

/** The actual use and cost of a call. */
interface ActualUse {
  costNanoUsd: number;
  tokens: number;
}

/** A request that may be read. It holds a slot among the calls in flight, and counts as one of its key's requests. */
export interface Entry {
  /** Admits the call that the request describes; throws if the key's scopes, or tokens or budget at any level, do not allow it. */
  admit(call: CallEstimate): Admission;
  /** Like `admit`, but waits a moment if other processes hold what the call needs. */
  admitShared(call: CallEstimate): Admission | Promise<Admission>;
  /** The request was refused before its call was admitted. */
  leave(): void;
}

/** A call that was admitted. */
export interface Admission {
  /**
   * Reserves the same amount again for one more paid request to a provider: a hedge, or the rest of a broken response.
   * False if a level has less than that left (H23).
   */
  extend(): boolean;
  /** Called once, at the end: releases what was reserved and counts what was used. */
  release(actual: ActualUse): void;
  /** The time of the call in its receipt and in its budgets: one reading of one clock for both (H30). */
  readonly atMs: number;
  /** Adds the usual rate-limit headers with the current remainders. */
  addRateHeaders(headers: Record<string, string>): void;
}

export interface CallEstimate extends CostEstimate {
  model: string;
  dialect: string;
  estimatedTokens: number;
}

export interface Clocks {
  /** A monotonic clock, for rates. */
  readonly nowMs: () => number;
  /** The machine's clock, for money and expiry. */
  readonly wallMs: () => number;
}

/** Where a key's calls are counted: at the key, its project and the gateway. Looked up once for each principal. */
export interface KeyBounds {
  readonly bounds: readonly Bound[];
  readonly isLimited: boolean;
  readonly countsMoney: boolean;
}

/** The entry and admission of a key that no level limits: one small object for each call. */
export class OpenEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  #released = false;
  atMs = 0;

  constructor(principal: Principal, keyBounds: KeyBounds, clocks: Clocks) {
    this.#principal = principal;
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
  }

  addRateHeaders(): void {}

  admit(call: CallEstimate): Admission {
    this.atMs = this.#clocks.wallMs();
    checkScopes(this.#principal, call, this.atMs);
    return this;
  }

  admitShared(call: CallEstimate): Admission {
    return this.admit(call);
  }

  leave(): void {}

  extend(): boolean {
    return true;
  }

  release(actual: ActualUse): void {
    if (this.#released) return;
    this.#released = true;
    if (actual.costNanoUsd <= 0) return;
    for (const { account } of this.#keyBounds.bounds) account.meter.add(actual.costNanoUsd, this.atMs);
  }
}

const COUNTED = { isCounted: true };

/**
 * The entry and admission of a key with limits at any level. Each step visits the levels once, because they are far
 * apart in memory.
 */
export class LimitedEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  readonly #enteredMs: number;
  /** It is one of its key's requests, and takes one of its slots. */
  readonly #isCounted: boolean;
  #call: CallEstimate | undefined;
  #takenMs = 0;
  #reservedNanoUsd = 0;
  /** When tokens were taken again. */
  #extendedMs: number[] | undefined;
  /** When it released its slot. */
  #leftMs: number | undefined;
  atMs = 0;

  /** Counts the request, which the levels allow. */
  constructor(
    principal: Principal,
    keyBounds: KeyBounds,
    clocks: Clocks,
    enteredMs: number,
    { isCounted }: { isCounted: boolean } = COUNTED,
  ) {
    this.#principal = principal;
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
    this.#enteredMs = enteredMs;
    this.#isCounted = isCounted;
    if (!isCounted) return;
    for (const { requestsPerMinute, account } of keyBounds.bounds) {
      account.inFlight += 1;
      account.lastUsedMs = enteredMs;
      if (requestsPerMinute !== undefined) account.requests.add(enteredMs, 1);
    }
  }

  admit(call: CallEstimate): Admission {
    try {
      return this.#admit(call);
    } catch (refusal) {
      this.#forgetRequest(this.#clocks.nowMs());
      throw refusal;
    }
  }

  admitShared(call: CallEstimate): Admission | Promise<Admission> {
    try {
      return this.#admit(call);
    } catch (refusal) {
      const { nowMs } = this.#clocks;
      const waited = whenShared(refusal, () => this.#admit(call), nowMs);
      return waited.catch((last: unknown) => {
        this.#forgetRequest(nowMs());
        throw last;
      });
    }
  }

  #admit(call: CallEstimate): Admission {
    const takenMs = this.#clocks.nowMs();
    this.atMs = this.#clocks.wallMs();
    checkScopes(this.#principal, call, this.atMs);
    this.#take(call, takenMs);
    this.#call = call;
    this.#takenMs = takenMs;
    return this;
  }

  addRateHeaders(headers: Record<string, string>): void {
    addRateHeaders(headers, this.#keyBounds.bounds, this.#leftMs ?? this.#clocks.nowMs(), this.atMs);
  }

  extend(): boolean {
    if (this.#call === undefined || this.#leftMs !== undefined) return false;
    const takenMs = this.#clocks.nowMs();
    try {
      this.#take(this.#call, takenMs);
    } catch {
      return false;
    }
    this.#extendedMs ??= [];
    this.#extendedMs.push(takenMs);
    return true;
  }

  leave(): void {
    if (this.#leftMs !== undefined) return;
    const leftMs = this.#clocks.nowMs();
    this.#leftMs = leftMs;
    for (const { account } of this.#keyBounds.bounds) {
      if (this.#isCounted) account.inFlight -= 1;
      account.lastUsedMs = leftMs;
    }
  }

  release(actual: ActualUse): void {
    const call = this.#call;
    if (this.#leftMs !== undefined || call === undefined) return;
    const leftMs = this.#clocks.nowMs();
    this.#leftMs = leftMs;
    for (const { tokensPerMinute, account } of this.#keyBounds.bounds) {
      if (this.#isCounted) account.inFlight -= 1;
      account.lastUsedMs = leftMs;
      account.meter.reserved -= this.#reservedNanoUsd;
      account.meter.add(actual.costNanoUsd, this.atMs);
      if (tokensPerMinute === undefined) continue;
      account.tokens.correct(this.#takenMs, leftMs, call.estimatedTokens, actual.tokens);
      if (this.#extendedMs !== undefined) giveBack(account, this.#extendedMs, leftMs, call.estimatedTokens);
    }
  }

  /** Takes the tokens and the money of one request to a provider at every level, or nothing at any. */
  #take(call: CallEstimate, takenMs: number): void {
    const { bounds, countsMoney } = this.#keyBounds;
    try {
      for (const bound of bounds) {
        checkBudgets(bound, call, this.atMs);
        checkTokens(bound, call.estimatedTokens, takenMs, this.atMs, !this.#isCounted);
      }
    } catch (refusal) {
      throw withNeeds(refusal, bounds, call);
    }
    const costNanoUsd = countsMoney ? reservedFor(call) : 0;
    this.#reservedNanoUsd += costNanoUsd;
    for (const { tokensPerMinute, account } of bounds) {
      account.meter.reserved += costNanoUsd;
      if (tokensPerMinute !== undefined) account.tokens.add(takenMs, call.estimatedTokens);
    }
  }

  /** Uncounts a request that was refused for its estimated use. */
  #forgetRequest(nowMs: number): void {
    if (!this.#isCounted) return;
    for (const { requestsPerMinute, account } of this.#keyBounds.bounds) {
      if (requestsPerMinute === undefined) continue;
      account.requests.correct(this.#enteredMs, nowMs, 1, 0);
    }
  }
}

/** Gives back what was taken at those times for requests that were not served. */
function giveBack(account: Account, takenMs: readonly number[], nowMs: number, tokens: number): void {
  for (const atMs of takenMs) account.tokens.correct(atMs, nowMs, tokens, 0);
}
