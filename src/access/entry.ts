import type { Account } from "./account.ts";
import type { Bound } from "./bound.ts";
import { type CostEstimate, checkBudgets, reservedFor, tokensFor } from "./check-budgets.ts";
import type { CallParts, PartBounds } from "./parts/part-bounds.ts";
import type { Principal } from "./principal.ts";
import { addRateHeaders, checkEntry, checkTokens } from "./rate-limits.ts";
import { checkScopes } from "./scopes.ts";
import { whenShared } from "./share-refusal.ts";
import { withNeeds } from "./shared-needs.ts";

/** The actual use and cost of a call. */
export interface ActualUse {
  costNanoUsd: number;
  tokens: number;
  /** What its receipt counts, which limits by the day are compared with; absent: the call has no receipt. */
  counted?: { tokens: number; calls: number; model: string } | undefined;
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
  /** Reserves what the call turns out to need. Called once, before anything is extended. Throws if a level has less than that left. */
  grow(call: CallEstimate): void;
  /** Called once, at the end: releases what was reserved and counts what was used. */
  release(actual: ActualUse): void;
  /** The time of the call in its receipt and in its budgets: one reading of one clock for both (H30). */
  readonly atMs: number;
  /** The end user in its receipt. */
  readonly endUser: string | undefined;
  /** Adds the usual rate-limit headers with the current remainders. */
  addRateHeaders(headers: Record<string, string>): void;
}

export interface CallEstimate extends CostEstimate, CallParts {
  dialect: string;
  /** The model that the key must be allowed to use, if it is not `model`: that of the session which the work is for. */
  scope?: string | undefined;
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
  /** Undefined if no end users, models or tags are limited. */
  readonly parts: PartBounds | undefined;
}

const NO_BOUNDS: readonly Bound[] = [];

/** The entry and admission of a key that no level limits: one small object for each call. */
export class OpenEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  #released = false;
  atMs = 0;
  endUser: string | undefined;

  constructor(principal: Principal, keyBounds: KeyBounds, clocks: Clocks) {
    this.#principal = principal;
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
  }

  addRateHeaders(): void {}

  admit(call: CallEstimate): Admission {
    this.endUser = call.endUser;
    this.atMs = this.#clocks.wallMs();
    checkScopes(this.#principal, call, this.atMs);
    return this;
  }

  admitShared(call: CallEstimate): Admission {
    return this.admit(call);
  }

  leave(): void {}

  grow(): void {}

  extend(): boolean {
    return true;
  }

  release(actual: ActualUse): void {
    if (this.#released) return;
    this.#released = true;
    const { costNanoUsd, counted = NOT_COUNTED } = actual;
    if (costNanoUsd <= 0 && counted.calls === 0) return;
    for (const { account } of this.#keyBounds.bounds)
      account.meter.add(costNanoUsd, this.atMs, counted.tokens, counted.calls);
  }
}

/** Whether a call is one of its key's requests, and whether it takes one of its slots. */
export type Counting = Readonly<Record<"isCounted" | "takesSlot", boolean>>;
export const COUNTED: Counting = { isCounted: true, takesSlot: true };
const NOT_COUNTED = { tokens: 0, calls: 0, model: "" };

/**
 * The entry and admission of a key with limits at any level. Each step visits the levels once, because they are far
 * apart in memory.
 */
export class LimitedEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  readonly #enteredMs: number;
  readonly #isCounted: boolean;
  readonly #takesSlot: boolean;
  #call: CallEstimate | undefined;
  #takenMs = 0;
  #reservedNanoUsd = 0;
  /** When tokens were taken again. */
  #extendedMs: number[] | undefined;
  /** When it released its slot. */
  #leftMs: number | undefined;
  /** The limits of its end user, model and tags. */
  #parts: readonly Bound[] = NO_BOUNDS;
  /** It is counted there. */
  #isInParts = false;
  atMs = 0;
  endUser: string | undefined;

  /** Counts the request, which the levels allow. */
  constructor(
    principal: Principal,
    keyBounds: KeyBounds,
    clocks: Clocks,
    enteredMs: number,
    { isCounted, takesSlot }: Counting = COUNTED,
  ) {
    this.#principal = principal;
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
    this.#enteredMs = enteredMs;
    this.#isCounted = isCounted;
    this.#takesSlot = takesSlot;
    if (!isCounted) return;
    for (const { requestsPerMinute, account } of keyBounds.bounds) {
      if (takesSlot) account.inFlight += 1;
      account.lastUsedMs = enteredMs;
      if (requestsPerMinute !== undefined) account.requests.add(enteredMs, 1);
    }
  }

  admit(call: CallEstimate): Admission {
    const { parts } = this.#keyBounds;
    if (parts !== undefined) this.#parts = parts.known(call);
    try {
      return this.#admit(call);
    } catch (refusal) {
      this.#forgetRequest(this.#clocks.nowMs());
      throw refusal;
    }
  }

  admitShared(call: CallEstimate): Admission | Promise<Admission> {
    const { parts } = this.#keyBounds;
    if (parts === undefined) return this.#admitShared(call);
    const found = parts.find(call);
    if (found instanceof Promise) return this.#admitLoaded(call, found);
    this.#parts = found;
    return this.#admitShared(call);
  }

  /** Its end user has been idle for a while, or is new. */
  async #admitLoaded(call: CallEstimate, loading: Promise<readonly Bound[]>): Promise<Admission> {
    try {
      this.#parts = await loading;
    } catch (failure) {
      this.#forgetRequest(this.#clocks.nowMs());
      throw failure;
    }
    return this.#admitShared(call);
  }

  #admitShared(call: CallEstimate): Admission | Promise<Admission> {
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
    this.endUser = call.endUser;
    checkScopes(this.#principal, call, this.atMs);
    if (this.#parts !== NO_BOUNDS && this.#isCounted) this.#checkParts(call, takenMs);
    this.#take(call, takenMs);
    this.#call = call;
    this.#takenMs = takenMs;
    for (const { account } of this.#keyBounds.bounds) account.meter.reservedRequests += 1;
    if (this.#parts !== NO_BOUNDS) this.#enterParts(takenMs);
    return this;
  }

  /** They are known only now, so this is where the call enters them. */
  #checkParts(call: CallEstimate, nowMs: number): void {
    try {
      for (const bound of this.#parts) checkEntry(bound, nowMs, this.#clocks.wallMs, this.#takesSlot);
    } catch (refusal) {
      throw withNeeds(refusal, this.#keyBounds.bounds, call, this.#parts);
    }
  }

  #enterParts(nowMs: number): void {
    this.#isInParts = true;
    for (const { requestsPerMinute, account } of this.#parts) {
      account.meter.reservedRequests += 1;
      account.lastUsedMs = nowMs;
      if (this.#takesSlot) account.inFlight += 1;
      if (!this.#isCounted) continue;
      if (requestsPerMinute !== undefined) account.requests.add(nowMs, 1);
    }
  }

  addRateHeaders(headers: Record<string, string>): void {
    const { bounds } = this.#keyBounds;
    const all = this.#parts === NO_BOUNDS ? bounds : [...bounds, ...this.#parts];
    addRateHeaders(headers, all, this.#leftMs ?? this.#clocks.nowMs(), this.atMs);
  }

  grow(call: CallEstimate): void {
    const takenMs = this.#clocks.nowMs();
    this.#take(call, takenMs);
    this.#call = call;
    this.#takenMs = takenMs;
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
      if (this.#takesSlot) account.inFlight -= 1;
      account.lastUsedMs = leftMs;
    }
  }

  release(actual: ActualUse): void {
    const call = this.#call;
    if (this.#leftMs !== undefined || call === undefined) return;
    const leftMs = this.#clocks.nowMs();
    this.#leftMs = leftMs;
    for (const bound of this.#keyBounds.bounds) this.#releaseAt(bound, call, actual, leftMs);
    if (this.#isInParts) this.#releaseParts(call, actual, leftMs);
  }

  #releaseAt(bound: Bound, call: CallEstimate, actual: ActualUse, leftMs: number): void {
    const { tokensPerMinute, tokensPerDay, account } = bound;
    const { meter } = account;
    const { counted = NOT_COUNTED } = actual;
    if (this.#takesSlot) account.inFlight -= 1;
    account.lastUsedMs = leftMs;
    meter.reserved -= this.#reservedNanoUsd;
    meter.reservedRequests -= 1;
    if (tokensPerDay !== undefined) meter.reservedTokens -= tokensFor(tokensPerDay, call) * this.#times;
    meter.add(actual.costNanoUsd, this.atMs, counted.tokens, counted.calls);
    if (tokensPerMinute === undefined) return;
    const taken = this.#tokensAt(bound, call);
    account.tokens.correct(this.#takenMs, leftMs, taken, actual.tokens);
    if (this.#extendedMs !== undefined) giveBack(account, this.#extendedMs, leftMs, taken);
  }

  /** If another model answered than the call was admitted for, its limits count what was used. */
  #releaseParts(call: CallEstimate, actual: ActualUse, leftMs: number): void {
    const { counted } = actual;
    const { parts } = this.#keyBounds;
    const isOther = counted !== undefined && parts !== undefined && counted.model !== call.model;
    if (!isOther) {
      for (const bound of this.#parts) this.#releaseAt(bound, call, actual, leftMs);
      return;
    }
    const ofModel = parts.ofModel(counted.model);
    for (const bound of this.#parts) {
      const isUsed = bound.level.level !== "model" || ofModel.includes(bound);
      this.#releaseAt(bound, call, isUsed ? actual : NOTHING_USED, leftMs);
    }
    for (const bound of ofModel) {
      if (this.#parts.includes(bound)) continue;
      bound.account.meter.add(actual.costNanoUsd, this.atMs, counted.tokens, counted.calls);
    }
  }

  /** How many requests to providers were reserved. */
  get #times(): number {
    return 1 + (this.#extendedMs?.length ?? 0);
  }

  /** The tokens of a minute that were taken for one request. */
  #tokensAt({ tokensPerMinute, level }: Bound, call: CallEstimate): number {
    return level.within === undefined ? call.estimatedTokens : tokensFor(tokensPerMinute, call);
  }

  /** Takes the tokens and the money of one request to a provider at every level, or nothing at any. */
  #take(call: CallEstimate, takenMs: number): void {
    const { bounds, countsMoney } = this.#keyBounds;
    const parts = this.#parts;
    try {
      for (const bound of bounds) this.#checkAt(bound, call, takenMs);
      for (const bound of parts) this.#checkAt(bound, call, takenMs);
    } catch (refusal) {
      throw withNeeds(refusal, bounds, call, parts);
    }
    const isMoney = countsMoney || parts.some(({ limitsMoney }) => limitsMoney);
    const costNanoUsd = isMoney ? reservedFor(call) : 0;
    this.#reservedNanoUsd += costNanoUsd;
    for (const bound of bounds) this.#takeAt(bound, call, costNanoUsd, takenMs);
    for (const bound of parts) this.#takeAt(bound, call, costNanoUsd, takenMs);
  }

  #checkAt(bound: Bound, call: CallEstimate, takenMs: number): void {
    checkBudgets(bound, call, this.atMs);
    if (bound.tokensPerMinute === undefined || call.isFree) return;
    checkTokens(bound, this.#tokensAt(bound, call), takenMs, this.atMs, !this.#isCounted);
  }

  #takeAt(bound: Bound, call: CallEstimate, costNanoUsd: number, takenMs: number): void {
    const { tokensPerMinute, tokensPerDay, account } = bound;
    account.meter.reserved += costNanoUsd;
    if (tokensPerDay !== undefined) account.meter.reservedTokens += tokensFor(tokensPerDay, call);
    if (tokensPerMinute !== undefined) account.tokens.add(takenMs, this.#tokensAt(bound, call));
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

const NOTHING_USED: ActualUse = { costNanoUsd: 0, tokens: 0 };

/** Gives back what was taken at those times for requests that were not served. */
function giveBack(account: Account, takenMs: readonly number[], nowMs: number, tokens: number): void {
  for (const atMs of takenMs) account.tokens.correct(atMs, nowMs, tokens, 0);
}
