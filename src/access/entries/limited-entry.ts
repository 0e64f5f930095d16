import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import type { Bound } from "../bound.ts";
import { checkBudgets, reservedFor, tokensFor } from "../check-budgets.ts";
import type { Principal } from "../principal.ts";
import { addRateHeaders, checkEntry, checkTokens } from "../rate-limits.ts";
import { checkScopes } from "../scopes.ts";
import { ShareRefusal, whenShared } from "../share-refusal.ts";
import { withNeeds } from "../shared-needs.ts";
import {
  type ActualUse,
  type Admission,
  type CallEstimate,
  type Clocks,
  type Entry,
  type KeyBounds,
  NOT_COUNTED,
  type OfferTaken,
  type Reservation,
} from "./entry.ts";
import { ModelHolds } from "./model-holds.ts";
import { mostOf, type OfferUse, type TokensAndCost } from "./use-at-offers.ts";

const NOTHING: TokensAndCost = { estimatedCostNanoUsd: 0, estimatedTokens: 0 };

/** A paid request to a provider. */
class PaidRequest implements Reservation {
  readonly #send: (request: PaidRequest, at: OfferTaken) => ReturnType<Reservation["begin"]>;
  /** The offers that it may still be sent to; none: it holds nothing. */
  uses: readonly OfferUse[] = [];
  /** What it holds at every level. */
  held: TokensAndCost = NOTHING;
  nanoUsd = 0;
  takenMs = 0;

  constructor(send: (request: PaidRequest, at: OfferTaken) => ReturnType<Reservation["begin"]>) {
    this.#send = send;
  }

  begin(at: OfferTaken): ReturnType<Reservation["begin"]> {
    return this.#send(this, at);
  }

  holdNothing(): void {
    this.uses = [];
    this.held = NOTHING;
    this.nanoUsd = 0;
  }
}

/** How a call is counted besides its tokens and its money. */
export interface Counted {
  /** As one of its key's requests, and in one of its slots. */
  readonly isRequest: boolean;
  /** The call that it is made for: it counts where that one does not. */
  readonly cause?: Pick<Admission, "isCountedAt"> | undefined;
}

const AS_REQUEST: Counted = { isRequest: true };
const NO_BOUNDS: readonly Bound[] = [];

/**
 * The entry and admission of a key with limits at any level. Each step visits the levels once, because they are far
 * apart in memory.
 */
export class LimitedEntry implements Entry, Admission {
  readonly #principal: Principal;
  readonly #keyBounds: KeyBounds;
  readonly #clocks: Clocks;
  readonly #enteredMs: number;
  readonly #counted: Counted;
  #call: CallEstimate | undefined;
  #uses: readonly OfferUse[] = [];
  #requests: readonly PaidRequest[] = [];
  /** Offers that a limit did not allow. */
  #refused: ReadonlyMap<OfferUse, GatewayError> | undefined;
  /** Those that a request was sent to, if there are several. */
  #sent: readonly OfferUse[] = [];
  /** When it released its slot. */
  #leftMs: number | undefined;
  /** The limits of its end user and tags. */
  #parts: readonly Bound[] = NO_BOUNDS;
  #models: ModelHolds | undefined;
  atMs = 0;
  endUser: string | undefined;

  /** Counts the request, which the levels allow. */
  constructor(
    principal: Principal,
    keyBounds: KeyBounds,
    clocks: Clocks,
    enteredMs: number,
    counted: Counted = AS_REQUEST,
  ) {
    this.#principal = principal;
    this.#keyBounds = keyBounds;
    this.#clocks = clocks;
    this.#enteredMs = enteredMs;
    this.#counted = counted;
    if (!counted.isRequest) return;
    for (const { requestsPerMinute, account } of keyBounds.bounds) {
      account.inFlight += 1;
      account.lastUsedMs = enteredMs;
      if (requestsPerMinute !== undefined) account.requests.add(enteredMs, 1);
    }
  }

  admit(call: CallEstimate): Admission {
    const { parts } = this.#keyBounds;
    if (parts !== undefined) this.#parts = parts.known(call);
    try {
      return this.#admit(call, true);
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
      return this.#admit(call, false);
    } catch (refusal) {
      return this.#admitLater(call, refusal);
    }
  }

  /** When other processes have given back what it needs; if they do not, with the offers that need less. */
  async #admitLater(call: CallEstimate, refusal: unknown): Promise<Admission> {
    const { nowMs } = this.#clocks;
    try {
      return await whenShared(refusal, () => this.#admit(call, false), nowMs).catch((last: unknown) => {
        if (!(last instanceof ShareRefusal) || call.offers === undefined) throw last;
        return this.#admit(call, true);
      });
    } catch (last) {
      this.#forgetRequest(nowMs());
      throw last;
    }
  }

  #admit(call: CallEstimate, acceptsSome: boolean): Admission {
    const { parts, bounds } = this.#keyBounds;
    const nowMs = this.#clocks.nowMs();
    this.atMs = this.#clocks.wallMs();
    this.endUser = call.endUser;
    checkScopes(this.#principal, call, this.atMs);
    if (this.#parts !== NO_BOUNDS && this.#counted.isRequest) this.#checkParts(call, nowMs);
    if (parts?.limitsModels) this.#models = this.#newModels(parts);
    const request = this.#newRequest();
    this.#requests = [request];
    this.#uses = usesOf(call);
    this.#refused = undefined;
    this.#reserve(request, acceptsSome);
    this.#call = call;
    for (const { account } of bounds) account.meter.reservedRequests += 1;
    if (this.#parts !== NO_BOUNDS) this.#enterParts(nowMs);
    return this;
  }

  #newRequest(): PaidRequest {
    return new PaidRequest(this.#send);
  }

  #newModels(parts: NonNullable<KeyBounds["parts"]>): ModelHolds {
    const { isRequest, cause } = this.#counted;
    const counts = (bound: Bound) => (cause === undefined ? isRequest : !cause.isCountedAt(bound));
    return new ModelHolds({ parts, counts, isLine: !isRequest });
  }

  isCountedAt(bound: Bound): boolean {
    return this.#models?.bounds.some(({ account }) => account === bound.account) === true;
  }

  /** They are known only now, so this is where the call enters them. */
  #checkParts(call: CallEstimate, nowMs: number): void {
    try {
      for (const bound of this.#parts) checkEntry(bound, nowMs, this.#clocks.wallMs);
    } catch (refusal) {
      throw withNeeds(refusal, this.#keyBounds.bounds, call, this.#parts);
    }
  }

  #enterParts(nowMs: number): void {
    for (const { requestsPerMinute, account } of this.#parts) {
      account.meter.reservedRequests += 1;
      account.lastUsedMs = nowMs;
      if (!this.#counted.isRequest) continue;
      account.inFlight += 1;
      if (requestsPerMinute !== undefined) account.requests.add(nowMs, 1);
    }
  }

  addRateHeaders(headers: Record<string, string>): void {
    const models = this.#models?.bounds ?? NO_BOUNDS;
    const { bounds } = this.#keyBounds;
    const all = this.#parts === NO_BOUNDS && models.length === 0 ? bounds : [...bounds, ...models, ...this.#parts];
    addRateHeaders(headers, all, this.#leftMs ?? this.#clocks.nowMs(), this.atMs);
  }

  grow(call: CallEstimate): void {
    this.#call = call;
    this.#uses = usesOf(call);
    this.#reserve(this.#last, true);
  }

  get latest(): Reservation {
    return this.#last;
  }

  get #last(): PaidRequest {
    const last = this.#requests.at(-1);
    if (last === undefined) throw new Error("a call reserves something when it is admitted");
    return last;
  }

  begin(at: OfferTaken): ReturnType<Reservation["begin"]> {
    return this.#last.begin(at);
  }

  refusalOf(at: OfferTaken): GatewayError | undefined {
    return this.#refused?.get(this.#useAt(at));
  }

  extend(): Reservation | undefined {
    if (this.#call === undefined || this.#leftMs !== undefined) return undefined;
    const before = this.#requests;
    const request = this.#newRequest();
    this.#requests = [...before, request];
    try {
      this.#reserve(request, true);
      return request;
    } catch {
      this.#requests = before;
      return undefined;
    }
  }

  leave(): void {
    if (this.#leftMs !== undefined) return;
    const leftMs = this.#clocks.nowMs();
    this.#leftMs = leftMs;
    for (const { account } of this.#keyBounds.bounds) {
      if (this.#counted.isRequest) account.inFlight -= 1;
      account.lastUsedMs = leftMs;
    }
  }

  release(actual: ActualUse): void {
    if (this.#leftMs !== undefined || this.#call === undefined) return;
    const leftMs = this.#clocks.nowMs();
    this.#leftMs = leftMs;
    for (const bound of this.#keyBounds.bounds) this.#releaseAt(bound, actual, leftMs);
    for (const bound of this.#parts) this.#releaseAt(bound, actual, leftMs);
    this.#models?.release(actual, { nowMs: leftMs, atMs: this.atMs });
  }

  #releaseAt(bound: Bound, actual: ActualUse, leftMs: number): void {
    const { account } = bound;
    const { counted = NOT_COUNTED } = actual;
    if (this.#counted.isRequest) account.inFlight -= 1;
    account.lastUsedMs = leftMs;
    account.meter.reservedRequests -= 1;
    let tokens = actual.tokens;
    for (const request of this.#requests) {
      giveBack(bound, request, leftMs, tokens);
      tokens = 0;
    }
    account.meter.add(actual.costNanoUsd, this.atMs, counted.tokens, counted.calls);
  }

  /** The offer's use as it was estimated. One that was not expected needs as much as any that was. */
  #useAt({ model: { id }, offer: { provider } }: OfferTaken): OfferUse {
    const known = this.#uses.find((use) => use.model === id && (use.provider === provider || use.provider === ANY));
    if (known !== undefined) return known;
    const unexpected = { ...mostOf(this.#uses), model: id, provider };
    this.#uses = [...this.#uses, unexpected];
    return unexpected;
  }

  /** A request is about to be sent to an offer. */
  readonly #send = (request: PaidRequest, at: OfferTaken): ReturnType<Reservation["begin"]> => {
    const use = this.#useAt(at);
    const refusal = this.#refused?.get(use);
    if (refusal !== undefined) return refusal;
    const send = () => {
      if (this.#leftMs !== undefined) return;
      const narrows = request.uses.includes(use);
      if (!narrows || request.uses.length > 1) this.#hold(request, [use], !narrows);
      this.#models?.tried(use.model);
      if (this.#uses.length > 1) this.#sent = [...this.#sent, use];
    };
    try {
      send();
      return undefined;
    } catch (lacking) {
      if (!(lacking instanceof ShareRefusal)) return this.#refuse(use, lacking);
      return whenShared(lacking, send, this.#clocks.nowMs).then(
        () => undefined,
        (last: unknown) => this.#refuse(use, last),
      );
    }
  };

  #refuse(use: OfferUse, refusal: unknown): GatewayError {
    const error = asGatewayError(refusal);
    // An offer that was tried is not one that was left out.
    if (!this.#sent.includes(use)) this.#refused = new Map(this.#refused).set(use, error);
    return error;
  }

  /**
   * Takes what a request may need at any of its offers. Those that a limit does not allow are left out; but if other processes may give
   * back what one needs, only if `acceptsSome` is set. Throws if no offer is left.
   */
  #reserve(request: PaidRequest, acceptsSome: boolean): void {
    const uses = this.#uses.filter((use) => !this.#refused?.has(use));
    try {
      this.#hold(request, uses, true);
      return;
    } catch (refusal) {
      if (uses.length <= 1) throw refusal;
    }
    const passing: OfferUse[] = [];
    const refusals: { use: OfferUse; refusal: unknown }[] = [];
    for (const use of uses) {
      try {
        this.#hold(request, [use], true);
        passing.push(use);
      } catch (refusal) {
        refusals.push({ use, refusal });
      }
    }
    const lacking = acceptsSome ? undefined : refusals.find(({ refusal }) => refusal instanceof ShareRefusal);
    const reason = lacking ?? (passing.length === 0 ? refusals[0] : undefined);
    if (reason !== undefined) {
      this.#hold(request, NO_USES, false);
      throw reason.refusal;
    }
    for (const { use, refusal } of refusals) this.#refuse(use, refusal);
    this.#hold(request, passing, true);
  }

  /** Makes a request hold what it needs at these offers, and nothing else. Throws if a level has less left: then it holds nothing. */
  #hold(request: PaidRequest, uses: readonly OfferUse[], isChecked: boolean): void {
    const { bounds, countsMoney } = this.#keyBounds;
    const nowMs = this.#clocks.nowMs();
    const times = { nowMs, atMs: this.atMs };
    const need = mostOf(uses);
    if (request.uses.length > 0) {
      for (const bound of bounds) giveBack(bound, request, nowMs, 0);
      for (const bound of this.#parts) giveBack(bound, request, nowMs, 0);
      request.holdNothing();
    }
    this.#models?.drop(nowMs);
    const wanted = this.#models?.wanted([...this.#requests.filter((one) => one !== request), { uses }]);
    if (isChecked) {
      try {
        for (const bound of bounds) this.#checkAt(bound, need, times);
        for (const bound of this.#parts) this.#checkAt(bound, need, times);
        if (wanted !== undefined) this.#models?.check(wanted, times);
      } catch (refusal) {
        this.#models?.take(this.#models.wanted(this.#requests), nowMs);
        throw withNeeds(refusal, bounds, need, [...this.#parts, ...(wanted?.keys() ?? [])]);
      }
    }
    request.uses = uses;
    request.held = need;
    request.takenMs = nowMs;
    request.nanoUsd = countsMoney || this.#parts.some(({ limitsMoney }) => limitsMoney) ? reservedFor(need) : 0;
    for (const bound of bounds) take(bound, request);
    for (const bound of this.#parts) take(bound, request);
    if (wanted !== undefined) this.#models?.take(wanted, nowMs);
  }

  #checkAt(bound: Bound, use: TokensAndCost, { nowMs, atMs }: { nowMs: number; atMs: number }): void {
    checkBudgets(bound, use, atMs);
    if (bound.tokensPerMinute === undefined || use.isFree) return;
    checkTokens(bound, tokensAt(bound, use), nowMs, atMs, !this.#counted.isRequest);
  }

  /** Uncounts a request that was refused for its estimated use. */
  #forgetRequest(nowMs: number): void {
    if (!this.#counted.isRequest) return;
    for (const { requestsPerMinute, account } of this.#keyBounds.bounds) {
      if (requestsPerMinute === undefined) continue;
      account.requests.correct(this.#enteredMs, nowMs, 1, 0);
    }
  }
}

const NO_USES: readonly OfferUse[] = [];
/** Any provider of a model. */
const ANY = "";

const usesOf = ({ offers, ...call }: CallEstimate): readonly OfferUse[] => offers ?? [{ ...call, provider: ANY }];

/** The tokens of a minute that are taken for one request. */
const tokensAt = ({ tokensPerMinute, level }: Bound, use: TokensAndCost): number =>
  level.within === undefined ? use.estimatedTokens : tokensFor(tokensPerMinute, use);

function take(bound: Bound, { held, nanoUsd, takenMs }: PaidRequest): void {
  const { tokensPerMinute, tokensPerDay, account } = bound;
  account.meter.reserved += nanoUsd;
  if (tokensPerDay !== undefined) account.meter.reservedTokens += tokensFor(tokensPerDay, held);
  if (tokensPerMinute !== undefined) account.tokens.add(takenMs, tokensAt(bound, held));
}

/** `tokens` are what was used of the minute. */
function giveBack(bound: Bound, { held, nanoUsd, takenMs }: PaidRequest, nowMs: number, tokens: number): void {
  const { tokensPerMinute, tokensPerDay, account } = bound;
  account.meter.reserved -= nanoUsd;
  if (tokensPerDay !== undefined) account.meter.reservedTokens -= tokensFor(tokensPerDay, held);
  if (tokensPerMinute !== undefined) account.tokens.correct(takenMs, nowMs, tokensAt(bound, held), tokens);
}
