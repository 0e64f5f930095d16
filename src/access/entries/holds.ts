import { GatewayError } from "../../canon/error.ts";
import type { Bound } from "../bound.ts";
import { checkBudgets, reservedFor, tokensFor } from "../check-budgets.ts";
import type { PartBounds } from "../parts/part-bounds.ts";
import { checkEntry, checkTokens } from "../rate-limits.ts";
import { type ActualUse, type Admission, NOT_COUNTED } from "./entry.ts";
import { mostOf, type OfferUse, sumOf, type TokensAndCost } from "./use-at-offers.ts";

/** What a call holds of one limit. */
interface Hold {
  readonly bound: Bound;
  /** Undefined: nothing. */
  use: TokensAndCost | undefined;
  takenMs: number;
  /** The call counts here now; in full, as one of the requests of the minute and in a slot, if it is counted. */
  isIn: boolean;
  isCounted: boolean;
  enteredMs: number;
  /** Of a limit of a model: a request was sent to such a model, and stays one of the minute. */
  isTried: boolean;
}

interface Times {
  /** By the clock of rates. */
  readonly nowMs: number;
  /** By the clock of money. */
  readonly atMs: number;
}

interface HoldsOptions {
  /** The limits that hold whatever answers. */
  always: readonly Bound[];
  /** Those of models. */
  models: PartBounds | undefined;
  counted: Counted;
}

/** How a call is counted besides its tokens and its money. */
export interface Counted {
  /** As one of its key's requests. */
  readonly isRequest: boolean;
  /** In one of its key's slots. */
  readonly takesSlot: boolean;
  /** The call that it is made for: it counts where that one does not. */
  readonly cause?: Pick<Admission, "isCountedAt"> | undefined;
}

export const AS_REQUEST: Counted = { isRequest: true, takesSlot: true };

/** Of each limit, what is needed. */
type Wanted = ReadonlyMap<Bound, TokensAndCost>;

/**
 * What a call holds of all limits. Until it is sent to an offer, it holds those of every model that may serve it, each with what it may
 * use there (H58). If several of its requests are paid, any of their models may be the one in the receipt, which counts all of them:
 * each holds the sum.
 */
export class Holds {
  readonly #options: HoldsOptions;
  readonly #holds = new Map<Bound, Hold>();
  /** The limits that hold whatever answers are left only at the end. */
  isAdmitted = false;

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  /** Those that the call is counted in, or was. */
  get bounds(): readonly Bound[] {
    return [...this.#holds.keys()];
  }

  /** What paid requests need, each of which may still be sent to these offers. */
  wanted(requests: readonly (readonly OfferUse[])[]): Wanted {
    const wanted = new Map<Bound, TokensAndCost>();
    const each = requests.filter((uses) => uses.length > 0);
    if (each.length === 0) return wanted;
    const need = sumOf(each.map(mostOf));
    for (const bound of this.#options.always) wanted.set(bound, need);
    for (const uses of each) {
      for (const use of uses) {
        for (const bound of this.#ofModel(use.model)) {
          const known = wanted.get(bound);
          wanted.set(bound, each.length > 1 ? need : known === undefined ? use : mostOf([known, use]));
        }
      }
    }
    return wanted;
  }

  #ofModel(model: string): readonly Bound[] {
    return this.#options.models?.ofModel(model) ?? [];
  }

  /** Throws if a limit has less left. What the call holds itself must have been dropped. */
  check(wanted: Wanted, times: Times): void {
    for (const [bound, use] of wanted) {
      try {
        this.#checkAt(bound, use, times);
      } catch (refusal) {
        if (refusal instanceof GatewayError) refusal.isOfModel = bound.level.level === "model";
        throw refusal;
      }
    }
  }

  #checkAt(bound: Bound, use: TokensAndCost, { nowMs, atMs }: Times): void {
    if (this.#counts(bound) && this.#holds.get(bound)?.isIn !== true)
      checkEntry(bound, nowMs, () => atMs, this.#options.counted.takesSlot);
    checkBudgets(bound, use, atMs);
    if (bound.tokensPerMinute === undefined || use.isFree) return;
    checkTokens(bound, tokensAt(bound, use), nowMs, atMs, !this.#options.counted.isRequest);
  }

  /** In full. Its key, project and gateway have counted the call before it was read. */
  #counts({ level, account }: Bound): boolean {
    const { isRequest, cause } = this.#options.counted;
    if (level.within === undefined) return false;
    return cause === undefined || level.level !== "model" ? isRequest : !cause.isCountedAt(account);
  }

  /** Gives back what is reserved; the call itself stays counted. */
  drop(nowMs: number): void {
    for (const hold of this.#holds.values()) drop(hold, nowMs, 0);
  }

  /** Takes what is wanted, and leaves the limits of models that are not. */
  take(wanted: Wanted, nowMs: number): void {
    for (const [bound, use] of wanted) {
      const { tokensPerMinute, tokensPerDay, account } = bound;
      const hold = this.#enter(bound, nowMs);
      hold.use = use;
      hold.takenMs = nowMs;
      account.meter.reserved += reservedFor(use);
      if (tokensPerDay !== undefined) account.meter.reservedTokens += tokensFor(tokensPerDay, use);
      if (tokensPerMinute !== undefined) account.tokens.add(nowMs, tokensAt(bound, use));
    }
    for (const hold of this.#holds.values()) {
      const stays = wanted.has(hold.bound) || (this.isAdmitted && hold.bound.level.level !== "model");
      if (!stays) this.#leave(hold, nowMs, hold.isTried);
    }
  }

  /** A request is about to be sent to this model. */
  tried(model: string): void {
    for (const bound of this.#ofModel(model)) {
      const hold = this.#holds.get(bound);
      if (hold !== undefined) hold.isTried = true;
    }
  }

  /** The call is over. Of the models, that of its receipt counts all of it. */
  release({ costNanoUsd, tokens, counted = NOT_COUNTED }: ActualUse, { nowMs, atMs }: Times): void {
    const used = new Set([...this.#options.always, ...this.#ofModel(counted.model)]);
    for (const bound of used) {
      const { account, tokensPerMinute } = bound;
      account.meter.add(costNanoUsd, atMs, counted.tokens, counted.calls);
      const hold = this.#holds.get(bound);
      if (hold?.use !== undefined) drop(hold, nowMs, tokens);
      else if (tokensPerMinute !== undefined) account.tokens.add(nowMs, tokens);
    }
    for (const hold of this.#holds.values()) {
      drop(hold, nowMs, 0);
      this.#leave(hold, nowMs, hold.isTried || used.has(hold.bound));
    }
  }

  #enter(bound: Bound, nowMs: number): Hold {
    const { requestsPerMinute, account } = bound;
    let hold = this.#holds.get(bound);
    if (hold?.isIn) return hold;
    hold ??= { bound, use: undefined, takenMs: 0, isIn: true, isCounted: false, enteredMs: nowMs, isTried: false };
    this.#holds.set(bound, hold);
    hold.isIn = true;
    hold.isCounted = this.#counts(bound);
    account.meter.reservedRequests += 1;
    account.lastUsedMs = nowMs;
    if (!hold.isCounted) return hold;
    if (this.#options.counted.takesSlot) account.inFlight += 1;
    if (requestsPerMinute === undefined || hold.isTried) return hold;
    hold.enteredMs = nowMs;
    account.requests.add(nowMs, 1);
    return hold;
  }

  #leave(hold: Hold, nowMs: number, isRequest: boolean): void {
    const { bound, isCounted, enteredMs } = hold;
    const { requestsPerMinute, account } = bound;
    if (!hold.isIn) return;
    hold.isIn = false;
    account.meter.reservedRequests -= 1;
    account.lastUsedMs = nowMs;
    if (!isRequest) this.#holds.delete(bound);
    if (!isCounted) return;
    if (this.#options.counted.takesSlot) account.inFlight -= 1;
    if (requestsPerMinute !== undefined && !isRequest) account.requests.correct(enteredMs, nowMs, 1, 0);
  }
}

/** `tokens` are what was used of the minute. */
function drop(hold: Hold, nowMs: number, tokens: number): void {
  const { bound, use, takenMs } = hold;
  const { tokensPerMinute, tokensPerDay, account } = bound;
  if (use === undefined) return;
  hold.use = undefined;
  account.meter.reserved -= reservedFor(use);
  if (tokensPerDay !== undefined) account.meter.reservedTokens -= tokensFor(tokensPerDay, use);
  if (tokensPerMinute !== undefined) account.tokens.correct(takenMs, nowMs, tokensAt(bound, use), tokens);
}

/** The tokens of a minute that are taken for one request. */
const tokensAt = ({ tokensPerMinute, level }: Bound, use: TokensAndCost): number =>
  level.within === undefined ? use.estimatedTokens : tokensFor(tokensPerMinute, use);
