import type { GatewayError } from "../../canon/error.ts";
import type { Account } from "../account.ts";
import type { Bound } from "../bound.ts";
import type { CallParts, PartBounds } from "../parts/part-bounds.ts";
import type { Principal } from "../principal.ts";
import { checkScopes } from "../scopes.ts";
import type { OfferUse, TokensAndCost } from "./use-at-offers.ts";

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

/** One offer, as a plan has it. */
export interface OfferTaken {
  readonly model: { readonly id: string };
  readonly offer: { readonly provider: string };
}

/** What is reserved for one paid request to a provider: what it may use at any of its offers, until it is sent to one. */
export interface Reservation {
  /**
   * Reserves what the request may use at this offer and nothing else, because it is about to be sent there. The reason if a limit does
   * not allow it (H58). Waits a moment if other processes hold what it needs.
   */
  begin(at: OfferTaken): GatewayError | undefined | Promise<GatewayError | undefined>;
}

/** A call that was admitted. */
export interface Admission extends Reservation {
  /** The reservation that was made last. */
  readonly latest: Reservation;
  /** The model of the first offer that its limits allow, where a call counts that is sent nowhere. Undefined: the one that it asks for. */
  readonly model: string | undefined;
  /** Why a limit did not allow an offer; undefined if none has refused it. */
  refusalOf(at: OfferTaken): GatewayError | undefined;
  /** Whether the call was counted at this limit of a model. */
  isCountedAt(account: Account): boolean;
  /**
   * Reserves what one more paid request to a provider may use: a hedge, or the rest of a broken response. Undefined if a level has less
   * than that left (H23).
   */
  extend(): Reservation | undefined;
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

/** The most that a call may use. */
export interface CallEstimate extends TokensAndCost, CallParts {
  dialect: string;
  /** The model that the key must be allowed to use, if it is not `model`: that of the session which the work is for. */
  scope?: string | undefined;
  /** What it may use at each offer that may serve it, the preferred model first; absent: the same at all of them. */
  offers?: readonly OfferUse[] | undefined;
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
  /** Undefined if no end users, models or tags are limited. */
  readonly parts: PartBounds | undefined;
}

/** The entry and admission of what no limit can refuse: one small object for each call. */
export abstract class UnlimitedEntry implements Entry, Admission {
  atMs = 0;
  endUser: string | undefined;

  abstract admit(call: CallEstimate): Admission;

  abstract release(actual: ActualUse): void;

  admitShared(call: CallEstimate): Admission {
    return this.admit(call);
  }

  addRateHeaders(): void {}

  leave(): void {}

  grow(): void {}

  get latest(): this {
    return this;
  }

  get model(): undefined {
    return undefined;
  }

  begin(): undefined {}

  refusalOf(): undefined {}

  isCountedAt(): boolean {
    return false;
  }

  extend(): Reservation | undefined {
    return undefined;
  }
}

/** Of a request that is prepared and not sent. The scopes of its key apply, its limits do not. */
export class PreparedEntry extends UnlimitedEntry {
  readonly #principal: Principal;
  readonly #clocks: Clocks;

  constructor(principal: Principal, clocks: Clocks) {
    super();
    this.#principal = principal;
    this.#clocks = clocks;
  }

  admit(call: CallEstimate): Admission {
    this.endUser = call.endUser;
    this.atMs = this.#clocks.wallMs();
    checkScopes(this.#principal, call, this.atMs);
    return this;
  }

  release(_actual: ActualUse): void {}
}

/** Of a key that no level limits. */
export class OpenEntry extends PreparedEntry {
  readonly #keyBounds: KeyBounds;
  #released = false;

  constructor(principal: Principal, keyBounds: KeyBounds, clocks: Clocks) {
    super(principal, clocks);
    this.#keyBounds = keyBounds;
  }

  override extend(): this {
    return this;
  }

  override release(actual: ActualUse): void {
    if (this.#released) return;
    this.#released = true;
    const { costNanoUsd, counted = NOT_COUNTED } = actual;
    if (costNanoUsd <= 0 && counted.calls === 0) return;
    for (const { account } of this.#keyBounds.bounds)
      account.meter.add(costNanoUsd, this.atMs, counted.tokens, counted.calls);
  }
}

/** A call without a receipt. */
export const NOT_COUNTED = { tokens: 0, calls: 0, model: "" };
