import { GatewayError } from "../../canon/error.ts";
import type { Bound } from "../bound.ts";
import { checkBudgets, reservedFor, tokensFor } from "../check-budgets.ts";
import type { PartBounds } from "../parts/part-bounds.ts";
import { checkEntry, checkTokens } from "../rate-limits.ts";
import type { ActualUse } from "./entry.ts";
import { mostOf, type OfferUse, sumOf, type TokensAndCost } from "./use-at-offers.ts";

/** A paid request to a provider, and the offers that it may still be sent to. */
export interface RequestUses {
  readonly uses: readonly OfferUse[];
}

/** What a call holds of one limit. */
interface ModelHold {
  /** Undefined: nothing. */
  use: TokensAndCost | undefined;
  takenMs: number;
  /** It is counted as one of the calls in flight. */
  isIn: boolean;
  /** It is one of the requests there, and takes a slot. */
  isCounted: boolean;
  enteredMs: number;
  /** A request was sent to such a model, so that it is one of the requests of the minute. */
  isTried: boolean;
}

interface Times {
  /** By the clock of rates. */
  readonly nowMs: number;
  /** By the clock of money. */
  readonly atMs: number;
}

interface ModelHoldsOptions {
  parts: PartBounds;
  /** Whether it counts as a request, and takes a slot, at these limits. */
  counts: (bound: Bound) => boolean;
  /** It belongs to a batch. */
  isLine: boolean;
}

/**
 * What a call holds of the limits by model (H58). Until it is sent to an offer, it holds those of every model that may serve it, each
 * with what it may use there. If several of its requests are paid, any of their models may be the one in the receipt, which counts all
 * of them: each holds the sum.
 */
export class ModelHolds {
  readonly #options: ModelHoldsOptions;
  readonly #holds = new Map<Bound, ModelHold>();

  constructor(options: ModelHoldsOptions) {
    this.#options = options;
  }

  /** Those that it is counted in now, or was. */
  get bounds(): readonly Bound[] {
    return [...this.#holds.keys()];
  }

  /** What requests need at each limit. */
  wanted(all: readonly RequestUses[]): ReadonlyMap<Bound, TokensAndCost> {
    const { parts } = this.#options;
    const requests = all.filter(({ uses }) => uses.length > 0);
    const bounds = new Set(requests.flatMap(({ uses }) => uses.flatMap(({ model }) => parts.ofModel(model))));
    const wanted = new Map<Bound, TokensAndCost>();
    const matching = (bound: Bound, { uses }: RequestUses) =>
      uses.filter(({ model }) => parts.ofModel(model).includes(bound));
    for (const bound of bounds) {
      const each = requests.map((one) => mostOf(requests.length > 1 ? one.uses : matching(bound, one)));
      wanted.set(bound, sumOf(each));
    }
    return wanted;
  }

  /** Throws if a limit has less left. What it holds itself must have been dropped. */
  check(wanted: ReadonlyMap<Bound, TokensAndCost>, times: Times): void {
    try {
      for (const [bound, use] of wanted) this.#checkAt(bound, use, times);
    } catch (refusal) {
      if (refusal instanceof GatewayError) refusal.isOfModel = true;
      throw refusal;
    }
  }

  #checkAt(bound: Bound, use: TokensAndCost, { nowMs, atMs }: Times): void {
    if (this.#options.counts(bound) && this.#holds.get(bound)?.isIn !== true) checkEntry(bound, nowMs, () => atMs);
    checkBudgets(bound, use, atMs);
    if (bound.tokensPerMinute === undefined || use.isFree) return;
    checkTokens(bound, tokensFor(bound.tokensPerMinute, use), nowMs, atMs, this.#options.isLine);
  }

  /** Gives back what is reserved; the call itself stays counted. */
  drop(nowMs: number): void {
    for (const [bound, hold] of this.#holds) drop(bound, hold, nowMs, 0);
  }

  /** Takes what requests need, and leaves the limits that they do not need. */
  take(wanted: ReadonlyMap<Bound, TokensAndCost>, nowMs: number): void {
    for (const [bound, use] of wanted) {
      const { tokensPerMinute, tokensPerDay, account } = bound;
      const hold = this.#enter(bound, nowMs);
      hold.use = use;
      hold.takenMs = nowMs;
      account.meter.reserved += reservedFor(use);
      if (tokensPerDay !== undefined) account.meter.reservedTokens += tokensFor(tokensPerDay, use);
      if (tokensPerMinute !== undefined) account.tokens.add(nowMs, tokensFor(tokensPerMinute, use));
    }
    for (const [bound, hold] of this.#holds) if (!wanted.has(bound)) this.#leave(bound, hold, nowMs, hold.isTried);
  }

  /** A request is about to be sent to this model. */
  tried(model: string): void {
    for (const bound of this.#options.parts.ofModel(model)) {
      const hold = this.#holds.get(bound);
      if (hold !== undefined) hold.isTried = true;
    }
  }

  /** The call is over. The model in its receipt counts all of it. */
  release({ costNanoUsd, tokens, counted }: ActualUse, { nowMs, atMs }: Times): void {
    const used = counted === undefined ? [] : this.#options.parts.ofModel(counted.model);
    for (const bound of used) {
      const { account, tokensPerMinute } = bound;
      account.meter.add(costNanoUsd, atMs, counted?.tokens, counted?.calls);
      const hold = this.#holds.get(bound);
      if (hold?.use !== undefined) drop(bound, hold, nowMs, tokens);
      else if (tokensPerMinute !== undefined) account.tokens.add(nowMs, tokens);
    }
    for (const [bound, hold] of this.#holds) {
      drop(bound, hold, nowMs, 0);
      this.#leave(bound, hold, nowMs, hold.isTried || used.includes(bound));
    }
  }

  #enter(bound: Bound, nowMs: number): ModelHold {
    const { requestsPerMinute, account } = bound;
    const known = this.#holds.get(bound);
    const hold = known ?? { use: undefined, takenMs: 0, isIn: false, isCounted: false, enteredMs: 0, isTried: false };
    if (hold.isIn) return hold;
    hold.isCounted = this.#options.counts(bound);
    this.#holds.set(bound, hold);
    hold.isIn = true;
    account.meter.reservedRequests += 1;
    account.lastUsedMs = nowMs;
    if (!hold.isCounted) return hold;
    account.inFlight += 1;
    if (requestsPerMinute === undefined || hold.isTried) return hold;
    hold.enteredMs = nowMs;
    account.requests.add(nowMs, 1);
    return hold;
  }

  #leave(bound: Bound, hold: ModelHold, nowMs: number, isRequest: boolean): void {
    const { requestsPerMinute, account } = bound;
    if (!hold.isIn) return;
    hold.isIn = false;
    account.meter.reservedRequests -= 1;
    account.lastUsedMs = nowMs;
    if (!isRequest) this.#holds.delete(bound);
    if (!hold.isCounted) return;
    account.inFlight -= 1;
    if (requestsPerMinute !== undefined && !isRequest) account.requests.correct(hold.enteredMs, nowMs, 1, 0);
  }
}

function drop({ tokensPerMinute, tokensPerDay, account }: Bound, hold: ModelHold, nowMs: number, tokens: number): void {
  const { use, takenMs } = hold;
  if (use === undefined) return;
  hold.use = undefined;
  account.meter.reserved -= reservedFor(use);
  if (tokensPerDay !== undefined) account.meter.reservedTokens -= tokensFor(tokensPerDay, use);
  if (tokensPerMinute !== undefined) account.tokens.correct(takenMs, nowMs, tokensFor(tokensPerMinute, use), tokens);
}
