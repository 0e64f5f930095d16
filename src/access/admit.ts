import { Account, type Share } from "./account.ts";
import { type Bound, boundOf } from "./bound.ts";
import { checkBudgets } from "./check-budgets.ts";
import { DoneEntry } from "./entries/done-entry.ts";
import {
  type CallEstimate,
  type Clocks,
  type Entry,
  type KeyBounds,
  OpenEntry,
  PreparedEntry,
} from "./entries/entry.ts";
import { AS_REQUEST, type Counted } from "./entries/holds.ts";
import { LimitedEntry } from "./entries/limited-entry.ts";
import type { TokensAndCost } from "./entries/use-at-offers.ts";
import { GATEWAY_ID, type Level, type LevelName } from "./level.ts";
import { type EndUserShare, type EndUserStore, EndUsers } from "./parts/end-users.ts";
import { type CallParts, PartBounds } from "./parts/part-bounds.ts";
import type { Principal } from "./principal.ts";
import { checkEntry, checkRequest, checkSessions } from "./rate-limits.ts";
import { whenShared } from "./share-refusal.ts";
import { withNeeds } from "./shared-needs.ts";
import { MEASURES, type Measure, SpendMeter, type Use } from "./spend-meter.ts";

export type { Admission, CallEstimate, Entry, OfferTaken, Reservation } from "./entries/entry.ts";

/** The ledger's sums for a level, in nano-dollars, calls or tokens; read from memory. */
export type SpentSums = (level: LevelName, id: string, measure: Measure) => number;

/**
 * Identifies the accounts that count a call: those of the key, its parent key, the project and the gateway; and if
 * `call` is given, those of its end user, its model and its tags as far as the key's settings limit them.
 */
export type Owner = Pick<Principal, "keyId" | "project"> & {
  maker?: Pick<Principal, "keyId"> | undefined;
  call?: (CallParts & { principal: Principal | undefined }) | undefined;
};

/** Releases what was held, and counts what was spent. */
export type Release = (actualNanoUsd: number, atMs: number, tokens?: number, calls?: number) => void;

interface AdmissionsOptions extends Clocks {
  /** The ledger's sums when the gateway started. */
  spent: SpentSums;
  /** Called once for each account if several processes share its limits. */
  shareOf?: (account: Account) => Share | undefined;
  /** Where the state of end users comes from. */
  endUsers?: { store: EndUserStore; shareOf?: ((account: Account) => EndUserShare) | undefined; maxHeld?: number };
}

const NO_STORE: EndUserStore = {
  read: async (wanted) => wanted.map(() => ({ spent: NOTHING, own: NOTHING, limits: undefined })),
  oldestMs: () => 0,
};
const NOTHING = Object.fromEntries(MEASURES.map((measure) => [measure, 0])) as unknown as Use;

/** After this much idle time, nothing in an account's rate windows counts any more. */
const IDLE_MS = 120_000;
const SWEEP_MS = 60_000;
/** The start, and the last few times the clock was set. */
const MAX_LEARNT = 4;

/**
 * Admits or refuses calls. The decision at all levels and the reservation happen in one turn of the event loop, so
 * that parallel calls cannot all pass on the same remainder (H23).
 */
export class Admissions {
  readonly #clocks: Clocks;
  readonly #shareOf: (account: Account) => Share | undefined;
  /** The ledger's sums and when they were read; read again after the clock was set. */
  readonly #learnt: { spent: SpentSums; asOfMs: number }[];
  /** Every account used since the start, limited or not: a new configuration may add a budget. */
  readonly #accounts: Readonly<Record<LevelName, Map<string, Account>>> = {
    key: new Map(),
    project: new Map(),
    gateway: new Map(),
    end_user: new Map(),
    model: new Map(),
    tag: new Map(),
  };
  readonly endUsers: EndUsers;
  readonly #keyBounds = new WeakMap<Principal, KeyBounds>();
  /** Accounts with rate windows, which are dropped when they are idle. */
  readonly #withRates = new Set<Account>();
  #sweptMs: number;

  constructor(options: AdmissionsOptions) {
    this.#clocks = options;
    this.#shareOf = options.shareOf ?? (() => undefined);
    const { store = NO_STORE, shareOf, maxHeld } = options.endUsers ?? {};
    this.endUsers = new EndUsers({ nowMs: options.nowMs, wallMs: options.wallMs, store, shareOf, maxHeld });
    this.#learnt = [{ spent: options.spent, asOfMs: options.wallMs() }];
    this.#sweptMs = options.nowMs();
  }

  /** How many keys, projects and gateways have live rate windows. */
  get tracked(): number {
    return this.#withRates.size;
  }

  /** What calls and operations in flight hold of limits at any level. */
  get held(): { calls: number; nanoUsd: number } {
    const { inFlight, meter } = this.account("gateway", GATEWAY_ID);
    return { calls: inFlight, nanoUsd: meter.reserved };
  }

  /**
   * Counts a request against the rates and the concurrency of its key, project and gateway, or refuses it before its body is
   * read: a caller over a limit must not fill the memory (S17).
   */
  enter(principal: Principal, nowMs = this.#clocks.nowMs(), counted: Counted = AS_REQUEST): Entry {
    if (nowMs - this.#sweptMs >= SWEEP_MS) this.#sweep(nowMs);
    const keyBounds = this.#boundsOf(principal);
    if (!keyBounds.isLimited) return new OpenEntry(principal, keyBounds, this.#clocks);
    if (keyBounds.parts !== undefined) this.endUsers.sweep(nowMs);
    try {
      for (const bound of keyBounds.bounds) {
        checkEntry(bound, nowMs, this.#clocks.wallMs, counted.takesSlot);
        if (bound.limitsRates) this.#withRates.add(bound.account);
      }
    } catch (refusal) {
      throw withNeeds(refusal, needsAt(keyBounds.bounds));
    }
    return new LimitedEntry(principal, keyBounds, this.#clocks, nowMs, counted);
  }

  /**
   * The entry of a call that counts towards tokens and budgets only: a line of a batch, which waits for its turn elsewhere, or work for
   * a call that was admitted, its `cause`. Where another model is limited than that of its cause, work counts in full.
   */
  enterWork(principal: Principal, cause?: Counted["cause"]): Entry {
    const keyBounds = this.#boundsOf(principal);
    if (!keyBounds.isLimited) return new OpenEntry(principal, keyBounds, this.#clocks);
    return new LimitedEntry(principal, keyBounds, this.#clocks, this.#clocks.nowMs(), {
      isRequest: false,
      takesSlot: false,
      cause,
    });
  }

  /** The entry of a request that is only prepared: nothing is counted. */
  enterPrepared(principal: Principal): Entry {
    return new PreparedEntry(principal, this.#clocks);
  }

  /** Whether limits of its end user, models or tags apply to a call. */
  isLimitedInPart(principal: Principal, call: CallEstimate): boolean {
    return this.#boundsOf(principal).parts?.appliesTo(call) === true;
  }

  /** The entry of work that a provider has done already, or of a check: it is counted, and nothing can refuse it. */
  enterDone(principal: Principal): Entry {
    return new DoneEntry(this.#boundsOf(principal), this.#clocks);
  }

  /**
   * Counts a request that calls no model, or refuses it. It does not count as a concurrent call: a client may fetch a
   * response while it is being made.
   */
  count(principal: Principal): void {
    const nowMs = this.#clocks.nowMs();
    if (nowMs - this.#sweptMs >= SWEEP_MS) this.#sweep(nowMs);
    const { bounds, isLimited } = this.#boundsOf(principal);
    if (!isLimited) return;
    for (const bound of bounds) checkRequest(bound, nowMs, this.#clocks.wallMs);
    for (const { requestsPerMinute, account } of bounds) {
      if (requestsPerMinute === undefined) continue;
      account.requests.add(nowMs, 1);
      account.lastUsedMs = nowMs;
      this.#withRates.add(account);
    }
  }

  /**
   * Counts a live connection until the returned function is called. `perKey` limits those of a key that has no limit of its own, in
   * this process.
   */
  openSession(principal: Principal, perKey: number): () => void {
    const { bounds } = this.#boundsOf(principal);
    for (const bound of bounds) checkSessions(bound, perKey, this.#clocks.wallMs);
    for (const { account } of bounds) account.sessions++;
    let isOpen = true;
    return () => {
      if (isOpen) for (const { account } of bounds) account.sessions--;
      isOpen = false;
    };
  }

  /** Throws if a budget has less left than work may cost that is about to be held. */
  requireBudget(principal: Principal, costNanoUsd: number): void {
    const { bounds } = this.#boundsOf(principal);
    const call = { estimatedCostNanoUsd: costNanoUsd, estimatedTokens: 0 };
    try {
      for (const bound of bounds) checkBudgets(bound, call, this.#clocks.wallMs());
    } catch (refusal) {
      throw withNeeds(refusal, needsAt(bounds, call));
    }
  }

  /**
   * Reserves money for work that is about to begin. Throws if a budget has less left. Waits a moment if other processes hold it:
   * the share of one process may be less than the work costs.
   */
  async reserve(principal: Principal, costNanoUsd: number): Promise<Release> {
    const take = () => {
      this.requireBudget(principal, costNanoUsd);
      return this.hold(principal, costNanoUsd);
    };
    try {
      return take();
    } catch (refusal) {
      return await whenShared(refusal, take, this.#clocks.nowMs);
    }
  }

  /** Reserves money at every level for work that outlasts the call that started it. */
  hold(owner: Owner, costNanoUsd: number): Release {
    const accounts = this.#allOf(owner);
    const parts = this.#partsOf(owner);
    const users = owner.call?.endUser === undefined ? [] : (parts?.hold(owner.call.endUser) ?? []);
    const held = owner.call === undefined || parts === undefined ? accounts : [...accounts, ...parts.fixed(owner.call)];
    for (const { meter } of held) meter.reserved += costNanoUsd;
    for (const { account } of users) account.meter.reserved += costNanoUsd;
    return (actualNanoUsd, atMs, tokens = 0, calls = 0) => {
      for (const { meter } of held) {
        meter.reserved -= costNanoUsd;
        meter.add(actualNanoUsd, atMs, tokens, calls);
      }
      for (const { account, isLoaded, release } of users) {
        account.meter.reserved -= costNanoUsd;
        if (isLoaded()) account.meter.add(actualNanoUsd, atMs, tokens, calls);
        release();
      }
    };
  }

  #partsOf({ call }: Owner): PartBounds | undefined {
    return call?.principal === undefined ? undefined : this.#boundsOf(call.principal).parts;
  }

  /**
   * Adds sums after the clock was set: the day and month that it shows now may have receipts that are not counted
   * here.
   */
  learn(spent: SpentSums, asOfMs: number): void {
    this.#learnt.push({ spent, asOfMs });
    if (this.#learnt.length > MAX_LEARNT) this.#learnt.splice(1, 1);
    for (const accounts of Object.values(this.#accounts)) {
      for (const { level, id, meter } of accounts.values()) meter.learn(sumsOf(level, id, spent), asOfMs);
    }
    this.endUsers.changed();
  }

  /** Whether nothing of a key is in flight or reserved. */
  isIdle(keyId: string): boolean {
    const account = this.#accounts.key.get(keyId);
    return account === undefined || (account.inFlight === 0 && account.sessions === 0 && account.meter.reserved === 0);
  }

  /** Without those of end users that are not in memory. */
  *accounts(): Iterable<Account> {
    for (const accounts of Object.values(this.#accounts)) yield* accounts.values();
    yield* this.endUsers.accounts();
  }

  account(level: LevelName, id: string): Account {
    let account = this.#accounts[level].get(id);
    if (account === undefined) {
      const [atStart, ...later] = this.#learnt;
      if (atStart === undefined) throw new Error("the ledger's sums are known from the start");
      const meter = new SpendMeter(sumsOf(level, id, atStart.spent), atStart.asOfMs);
      for (const { spent, asOfMs } of later) meter.learn(sumsOf(level, id, spent), asOfMs);
      account = new Account(level, id, meter);
      account.share = this.#shareOf(account);
      this.#accounts[level].set(id, account);
    }
    return account;
  }

  #boundsOf(principal: Principal): KeyBounds {
    return this.#keyBounds.get(principal) ?? this.#makeBounds(principal);
  }

  #makeBounds(principal: Principal): KeyBounds {
    const { levels } = principal;
    const bounds = this.#allOf(principal).map((account) => boundOf(account, levels.find(isOf(account))));
    const parts =
      principal.parts === undefined
        ? undefined
        : new PartBounds(principal.parts, { account: (level, id) => this.account(level, id), users: this.endUsers });
    const keyBounds = { bounds, isLimited: levels.length > 0 || parts !== undefined, parts };
    this.#keyBounds.set(principal, keyBounds);
    return keyBounds;
  }

  #allOf({ keyId, project, maker }: Owner): readonly Account[] {
    const makers = maker === undefined ? [] : [this.account("key", maker.keyId)];
    return [
      this.account("key", keyId),
      ...makers,
      this.account("project", project),
      this.account("gateway", GATEWAY_ID),
    ];
  }

  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs;
    for (const account of this.#withRates) {
      if (account.inFlight > 0 || nowMs - account.lastUsedMs < IDLE_MS) continue;
      account.dropRates();
      this.#withRates.delete(account);
    }
  }
}

const needsAt = (bounds: readonly Bound[], use?: TokensAndCost) => bounds.map((bound) => [bound, use] as const);

const isOf =
  ({ level, id }: Account) =>
  (one: Level): boolean =>
    one.level === level && one.id === id;

const sumsOf = (level: LevelName, id: string, spent: SpentSums) =>
  Object.fromEntries(MEASURES.map((measure) => [measure, spent(level, id, measure)])) as unknown as Use;
