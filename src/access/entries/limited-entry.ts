import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import type { Account } from "../account.ts";
import type { Bound } from "../bound.ts";
import type { Principal } from "../principal.ts";
import { addRateHeaders } from "../rate-limits.ts";
import { checkScopes } from "../scopes.ts";
import { ShareRefusal, whenShared } from "../share-refusal.ts";
import { withNeeds } from "../shared-needs.ts";
import type { ActualUse, Admission, CallEstimate, Clocks, Entry, KeyBounds, OfferTaken, Reservation } from "./entry.ts";
import { AS_REQUEST, type Counted, Holds } from "./holds.ts";
import { mostOf, type OfferUse } from "./use-at-offers.ts";

/** A paid request to a provider. */
class PaidRequest implements Reservation {
  readonly #entry: LimitedEntry;
  /** The offers that it may still be sent to; none: it holds nothing. */
  uses: readonly OfferUse[] = NO_USES;

  constructor(entry: LimitedEntry) {
    this.#entry = entry;
  }

  begin(at: OfferTaken): ReturnType<Reservation["begin"]> {
    return this.#entry.send(this, at);
  }
}

const NO_USES: readonly OfferUse[] = [];
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
  #holds: Holds | undefined;
  atMs = 0;
  endUser: string | undefined;
  model: string | undefined;

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
      if (counted.takesSlot) account.inFlight += 1;
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
    this.atMs = this.#clocks.wallMs();
    this.endUser = call.endUser;
    checkScopes(this.#principal, call, this.atMs);
    this.#holds = new Holds({
      always: this.#parts === NO_BOUNDS ? bounds : [...bounds, ...this.#parts],
      models: parts?.limitsModels ? parts : undefined,
      counted: this.#counted,
    });
    this.#uses = call.offers ?? [call];
    this.#refused = undefined;
    const request = new PaidRequest(this);
    this.#requests = [request];
    this.#reserve(request, acceptsSome);
    this.#holds.isAdmitted = true;
    this.model = request.uses[0]?.model;
    return this;
  }

  isCountedAt(account: Account): boolean {
    return this.#holds?.bounds.some((bound) => bound.account === account) === true;
  }

  addRateHeaders(headers: Record<string, string>): void {
    const bounds = this.#holds?.bounds ?? this.#keyBounds.bounds;
    addRateHeaders(headers, bounds, this.#leftMs ?? this.#clocks.nowMs(), this.atMs);
  }

  grow(call: CallEstimate): void {
    this.#uses = call.offers ?? [call];
    this.#reserve(this.latest, true);
  }

  get latest(): PaidRequest {
    const last = this.#requests.at(-1);
    if (last === undefined) throw new Error("a call reserves something when it is admitted");
    return last;
  }

  begin(at: OfferTaken): ReturnType<Reservation["begin"]> {
    return this.latest.begin(at);
  }

  refusalOf(at: OfferTaken): GatewayError | undefined {
    return this.#refused?.get(this.#useAt(at));
  }

  extend(): Reservation | undefined {
    if (this.#holds?.isAdmitted !== true || this.#leftMs !== undefined) return undefined;
    const before = this.#requests;
    const request = new PaidRequest(this);
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
      if (this.#counted.takesSlot) account.inFlight -= 1;
      account.lastUsedMs = leftMs;
    }
  }

  release(actual: ActualUse): void {
    if (this.#leftMs !== undefined || this.#holds?.isAdmitted !== true) return;
    this.leave();
    this.#holds.release(actual, { nowMs: this.#leftMs ?? this.#clocks.nowMs(), atMs: this.atMs });
  }

  /** The offer's use as it was estimated. One that was not expected needs as much as any that was. */
  #useAt({ model: { id }, offer: { provider } }: OfferTaken): OfferUse {
    const known = this.#uses.find((use) => use.model === id && (use.provider ?? provider) === provider);
    if (known !== undefined) return known;
    const unexpected = { ...mostOf(this.#uses), model: id, provider };
    this.#uses = [...this.#uses, unexpected];
    return unexpected;
  }

  /** A request is about to be sent to an offer. */
  send(request: PaidRequest, at: OfferTaken): ReturnType<Reservation["begin"]> {
    const use = this.#useAt(at);
    const refusal = this.#refused?.get(use);
    if (refusal !== undefined) return refusal;
    const send = () => {
      if (this.#leftMs !== undefined) return;
      const narrows = request.uses.includes(use);
      if (!narrows || request.uses.length > 1) this.#hold(request, [use], !narrows);
      this.#holds?.tried(use.model);
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
  }

  #refuse(use: OfferUse, refusal: unknown): GatewayError {
    const error = asGatewayError(refusal);
    // An offer that was tried is not one that was left out.
    if (!this.#sent.includes(use)) this.#refused = new Map(this.#refused).set(use, error);
    return error;
  }

  /**
   * Takes what a request may need at any of its offers. Those that a limit does not allow are left out. Throws if no offer is left, or if
   * other processes may give back what the first one needs, unless `acceptsSome` is set.
   */
  #reserve(request: PaidRequest, acceptsSome: boolean): void {
    const refused = this.#refused;
    const uses = refused === undefined ? this.#uses : this.#uses.filter((use) => !refused.has(use));
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
    const [first] = refusals;
    const mayWait = refusals.find(({ refusal }) => !acceptsSome && refusal instanceof ShareRefusal);
    const waits = mayWait !== undefined && mayWait.use === uses[0];
    const reason = passing.length === 0 ? (mayWait ?? first) : waits ? mayWait : undefined;
    this.#hold(request, NO_USES, false);
    if (reason !== undefined) throw reason.refusal;
    // Other processes may have given back what it needs when its turn comes.
    for (const { use, refusal } of refusals) if (!(refusal instanceof ShareRefusal)) this.#refuse(use, refusal);
    this.#hold(request, passing, true);
  }

  /** Makes a request hold what it needs at these offers, and nothing else. Throws if a level has less left: then it holds what it held. */
  #hold(request: PaidRequest, uses: readonly OfferUse[], isChecked: boolean): void {
    const holds = this.#holds;
    if (holds === undefined) return;
    const nowMs = this.#clocks.nowMs();
    const before = request.uses;
    const others = this.#requests.flatMap((one) => (one === request ? [] : [one.uses]));
    const wanted = holds.wanted([...others, uses]);
    holds.drop(nowMs);
    request.uses = uses;
    try {
      if (isChecked) holds.check(wanted, { nowMs, atMs: this.atMs });
      holds.take(wanted, nowMs);
    } catch (refusal) {
      request.uses = before;
      holds.take(holds.wanted([...others, before]), nowMs);
      throw withNeeds(refusal, wanted);
    }
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
