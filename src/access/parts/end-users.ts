import { GatewayError } from "../../canon/error.ts";
import { Account, type Share } from "../account.ts";
import { type Bound, boundOf } from "../bound.ts";
import { needsLedger } from "../budget.ts";
import { partId, subjectOf, type WholeLevel } from "../level.ts";
import type { Limits } from "../limits.ts";
import { SpendMeter, type Use } from "../spend-meter.ts";
import { endUserLevel, type PartScope } from "./part-limits.ts";

/** One end user of a key, a project or the gateway. */
export interface EndUserRef extends Pick<WholeLevel, "level" | "id"> {
  readonly user: string;
}

/** What the storage knows of an end user. */
export interface LoadedEndUser {
  /** What it has used in all processes, and the part of this one. */
  readonly spent: Use;
  readonly own: Use;
  /** The limits that replace defaults; `null` removes a default limit. */
  readonly limits: Readonly<Record<string, number | null>> | undefined;
}

/** Where the state of end users comes from. */
export interface EndUserStore {
  /** One read for many, in their order. */
  read(wanted: readonly EndUserRef[], asOfMs: number): Promise<readonly LoadedEndUser[]>;
  /** How long the oldest receipt has been waiting to be stored. */
  oldestMs(): number;
}

/** What this process may use of an end user's limits if several processes share them. */
export interface EndUserShare extends Share {
  change(limits: Limits): void;
}

interface EndUsersOptions {
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly store: EndUserStore;
  readonly shareOf?: ((account: Account) => EndUserShare | undefined) | undefined;
  /** The most end users in memory. */
  readonly maxHeld?: number | undefined;
}

interface HeldUser extends EndUserRef {
  readonly key: string;
  /** The key, project or gateway that it is counted in. */
  readonly whole: string;
  readonly account: Account;
  readonly share: EndUserShare | undefined;
  /** Work that outlasts calls, such as videos. */
  holds: number;
  touchedMs: number;
  /** Its use is known. */
  isLoaded: boolean;
  /** It must be read again; until then what is known counts. */
  isStale: boolean;
  loading: Promise<void> | undefined;
  defaults: Limits | undefined;
  own: LoadedEndUser["limits"];
  bound: Bound | undefined;
}

const MAX_HELD = 20_000;
/** The most that one key, project or gateway may hold, as a multiple of what is free: others always find room. */
const FAIR_SHARE = 4;
const MAX_READ = 200;
const MAX_WAITING = 2_000;
const SWEEP_MS = 1_000;
/** How long an idle end user stays in memory if there is room. */
const KEPT_MS = 120_000;
/** If there is no room: only until its receipts are stored and the rates of its last minute are over. */
const SETTLED_MS = 10_000;
const MINUTE_MS = 61_000;
/** Receipts are written this long after their calls have ended, at most. */
const WRITTEN_MS = 5_000;
const MAX_CHECKED = 2_000;
const MAX_TRIED = 50;
/** After a failed read, others fail at once for this long. */
const FAILED_MS = 1_000;
const STORE_RETRY_SECONDS = 5;
const NO_LIMITS: Limits = {};

/**
 * The end users whose limits calls have needed lately. A million of them may exist: only recent ones are in memory, and
 * the others come back from the storage with the next call. One leaves only when everything that it has used is stored.
 */
export class EndUsers {
  readonly #options: EndUsersOptions;
  readonly #maxHeld: number;
  /** The least recently used first. */
  readonly #held = new Map<string, HeldUser>();
  /** How many each key, project and the gateway has. */
  readonly #counts = new Map<string, number>();
  #waiting: { held: HeldUser; resolve: () => void; reject: (reason: unknown) => void }[] = [];
  #isReading = false;
  #failedMs = Number.NEGATIVE_INFINITY;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(options: EndUsersOptions) {
    this.#options = options;
    this.#maxHeld = options.maxHeld ?? MAX_HELD;
  }

  /** How many are in memory. */
  get size(): number {
    return this.#held.size;
  }

  /** Undefined if its state must be loaded first. */
  bound(scope: PartScope, user: string): Bound | undefined {
    const held = this.#held.get(partId(scope, user));
    if (held === undefined || !held.isLoaded || held.isStale) return undefined;
    this.#touch(held);
    return this.#bind(held, scope);
  }

  /** Waits for the storage. Throws if it does not answer and the limits depend on it, or if too many are in memory. */
  async load(scope: PartScope, user: string): Promise<Bound> {
    const held = this.#held.get(partId(scope, user)) ?? this.#add(scope, user);
    this.#touch(held);
    if (!held.isLoaded || held.isStale) {
      held.loading ??= this.#read(held).finally(() => {
        held.loading = undefined;
      });
      await held.loading.catch((cause: unknown) => {
        const isKnown = held.isLoaded || !needsLedger(scope.limits.endUsers?.limits ?? NO_LIMITS);
        if (!isKnown) throw cannotRead(cause);
      });
    }
    return this.#bind(held, scope);
  }

  /** The account of one that work outlasting calls belongs to; it stays in memory until the returned function is called. */
  hold(scope: PartScope, user: string): { account: Account; isLoaded: () => boolean; release: () => void } | undefined {
    let held = this.#held.get(partId(scope, user));
    try {
      held ??= this.#add(scope, user);
    } catch {
      return undefined;
    }
    const one = held;
    one.holds++;
    return {
      account: one.account,
      // What has happened before it is loaded comes from the storage.
      isLoaded: () => one.isLoaded || one.loading !== undefined,
      release: () => void one.holds--,
    };
  }

  /** These have other limits now; undefined if any may have, or if the clock was set. */
  changed(users?: readonly EndUserRef[]): void {
    if (users === undefined) for (const held of this.#held.values()) held.isStale = true;
    for (const one of users ?? []) {
      const held = this.#held.get(partId(one, one.user));
      if (held !== undefined) held.isStale = true;
    }
  }

  *accounts(): Iterable<Account> {
    for (const { account } of this.#held.values()) yield account;
  }

  /** Forgets idle end users. Cheap if called often. */
  sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    const keptMs = this.#held.size > this.#maxHeld / 2 ? SETTLED_MS : KEPT_MS;
    let checked = 0;
    for (const held of this.#held.values()) {
      if (nowMs - held.touchedMs < keptMs || ++checked > MAX_CHECKED) return;
      this.#dropIfIdle(held, nowMs);
    }
  }

  #touch(held: HeldUser): void {
    const nowMs = this.#options.nowMs();
    if (nowMs - held.touchedMs < SWEEP_MS) return;
    held.touchedMs = nowMs;
    this.#held.delete(held.key);
    this.#held.set(held.key, held);
  }

  #bind(held: HeldUser, scope: PartScope): Bound {
    const defaults = scope.limits.endUsers?.limits ?? NO_LIMITS;
    if (held.bound === undefined || held.defaults !== defaults) {
      held.defaults = defaults;
      const limits = limitsOf(defaults, held.own);
      held.bound = boundOf(held.account, endUserLevel(scope, held.user, limits));
      held.share?.change(limits);
    }
    return held.bound;
  }

  #add(scope: PartScope, user: string): HeldUser {
    const nowMs = this.#options.nowMs();
    const whole = partId(scope, "");
    if (!this.#hasRoom(whole)) this.#makeRoom(nowMs);
    if (!this.#hasRoom(whole)) throw tooMany(scope);
    const key = partId(scope, user);
    const account = new Account("end_user", key, new SpendMeter({}, this.#options.wallMs()));
    const share = this.#options.shareOf?.(account);
    account.share = share;
    account.lastUsedMs = nowMs;
    const { level, id } = scope;
    const held: HeldUser = {
      key,
      level,
      id,
      user,
      whole,
      account,
      share,
      holds: 0,
      touchedMs: nowMs,
      isLoaded: false,
      isStale: false,
      loading: undefined,
      defaults: undefined,
      own: undefined,
      bound: undefined,
    };
    this.#held.set(key, held);
    this.#counts.set(whole, (this.#counts.get(whole) ?? 0) + 1);
    return held;
  }

  #hasRoom(whole: string): boolean {
    const free = this.#maxHeld - this.#held.size;
    return free > 0 && (this.#counts.get(whole) ?? 0) < FAIR_SHARE * free;
  }

  #makeRoom(nowMs: number): void {
    let tried = 0;
    for (const held of this.#held.values()) {
      if (++tried > MAX_TRIED) return;
      this.#dropIfIdle(held, nowMs);
    }
  }

  #dropIfIdle(held: HeldUser, nowMs: number): void {
    const { account, bound } = held;
    const { meter } = account;
    const idleMs = nowMs - Math.max(account.lastUsedMs, held.touchedMs);
    const isBusy = held.holds > 0 || held.loading !== undefined || account.inFlight > 0 || meter.reserved > 0;
    if (isBusy || meter.reservedRequests > 0 || meter.reservedTokens > 0) return;
    if (idleMs < (bound?.limitsRates ? MINUTE_MS : SETTLED_MS)) return;
    if (this.#options.store.oldestMs() > idleMs - WRITTEN_MS) return;
    held.share?.change(NO_LIMITS);
    this.#held.delete(held.key);
    const count = (this.#counts.get(held.whole) ?? 1) - 1;
    if (count > 0) this.#counts.set(held.whole, count);
    else this.#counts.delete(held.whole);
  }

  #read(held: HeldUser): Promise<void> {
    if (this.#options.nowMs() - this.#failedMs < FAILED_MS) {
      return Promise.reject(new Error("the storage failed a moment ago"));
    }
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new Error("too many end users are being read"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ held, resolve, reject });
    if (!this.#isReading) void this.#readAll();
    return promise;
  }

  /** One read at a time: those that arrive meanwhile share the next. */
  async #readAll(): Promise<void> {
    this.#isReading = true;
    // Those of the same turn of the event loop are read together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MAX_READ);
      this.#waiting = this.#waiting.slice(MAX_READ);
      const asOfMs = this.#options.wallMs();
      try {
        const found = await this.#options.store.read(
          batch.map(({ held }) => held),
          asOfMs,
        );
        for (const [index, { held, resolve }] of batch.entries()) {
          const loaded = found[index];
          if (loaded !== undefined) this.#take(held, loaded, asOfMs);
          resolve();
        }
      } catch (thrown) {
        this.#failedMs = this.#options.nowMs();
        for (const { reject } of [...batch, ...this.#waiting]) reject(thrown);
        this.#waiting = [];
      }
    }
    this.#isReading = false;
  }

  #take(held: HeldUser, { spent, own, limits }: LoadedEndUser, asOfMs: number): void {
    const { meter } = held.account;
    if (held.isLoaded) meter.learn(spent, asOfMs);
    else meter.load(spent, own, asOfMs);
    held.own = limits;
    held.bound = undefined;
    held.isLoaded = true;
    held.isStale = false;
  }
}

/** The default limits, replaced by its own where it has them. */
function limitsOf(defaults: Limits, own: LoadedEndUser["limits"]): Limits {
  if (own === undefined) return defaults;
  const limits = Object.entries({ ...defaults, ...own }).filter(([, value]) => value !== null);
  return Object.fromEntries(limits) as Limits;
}

const cannotRead = (cause: unknown): GatewayError =>
  new GatewayError(
    "overloaded",
    "The gateway cannot read what this end user has used, because its database does not answer. Try again later.",
    { retryAfterSeconds: STORE_RETRY_SECONDS, cause },
  );

const tooMany = (scope: PartScope): GatewayError =>
  new GatewayError(
    "rate_limited",
    `${subjectOf(scope)} has more different end users at once than the gateway can keep. Try again in 1 s.`,
    { retryAfterSeconds: 1 },
  );
