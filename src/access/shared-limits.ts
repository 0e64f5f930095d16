import type { Clock } from "../base/clock.ts";
import type { LeasedWindow } from "../leases/leased-window.ts";
import type { Leases } from "../leases/leases.ts";
import type { Account, Share } from "./account.ts";
import { amountOf, measureOf } from "./budget.ts";
import type { Level } from "./level.ts";
import { LIMIT_NAMES, type LimitName } from "./limits.ts";
import type { EndUserShare } from "./parts/end-users.ts";
import { type SharedWindow, windowAt, windowName } from "./shared-window.ts";

/** Days and months are leased this long before they begin. */
const AHEAD_MS = 300_000;
const LOOK_MS = 60_000;
const NONE: Level["limits"] = {};
/** Limits on what is held at one time. */
const SLOTS: ReadonlySet<LimitName> = new Set(["concurrent", "sessions"]);

interface SharedLimitsOptions {
  leases: Leases;
  clock: Clock;
}

/** Finds the account of a level. */
interface Accounts {
  account(level: Level["level"], id: string): Account;
}

/** Shares limits between processes before calls arrive. */
export class SharedLimits {
  readonly #options: SharedLimitsOptions;
  readonly #shares = new Map<Account, LeasedShare>();

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
  }

  /** Called once for each account. */
  readonly shareOf = (account: Account): Share => {
    const share = new LeasedShare(account, this.#options);
    this.#shares.set(account, share);
    return share;
  };

  /** Called once for each time that an end user comes into memory, which sets its limits and takes them back. */
  readonly shareOfEndUser = (account: Account): EndUserShare =>
    new LeasedShare(account, { ...this.#options, isPassing: true });

  /** Sets the levels that have limits. */
  track(levels: readonly Level[], accounts: Accounts): void {
    const tracked = new Set<LeasedShare>();
    for (const level of levels) {
      const share = this.#shares.get(accounts.account(level.level, level.id));
      if (share === undefined) continue;
      share.change(level.limits);
      tracked.add(share);
    }
    for (const share of this.#shares.values()) if (!tracked.has(share)) share.change(NONE);
  }

  /** Sets the limits of levels in addition to those that are tracked. */
  add(levels: readonly Level[], accounts: Accounts): void {
    for (const level of levels) this.#shares.get(accounts.account(level.level, level.id))?.change(level.limits);
  }

  /** Leases the windows of the next day and month before they begin. The returned function stops it. */
  watch(): () => void {
    return this.#options.clock.every(
      LOOK_MS,
      () => {
        for (const share of this.#shares.values()) share.renew();
      },
      { background: true },
    );
  }
}

interface Taken {
  shared: SharedWindow;
  window: LeasedWindow;
}

/** What this process holds of one account's limits. */
class LeasedShare implements Share {
  readonly #isPassing: boolean;
  readonly #account: Account;
  readonly #leases: Leases;
  readonly #clock: Clock;
  /** The current windows, and those of the next day or month. */
  readonly #taken = new Map<LimitName, Taken[]>();
  #limits: Level["limits"] = NONE;

  constructor(account: Account, { leases, clock, isPassing = false }: SharedLimitsOptions & { isPassing?: boolean }) {
    this.#account = account;
    this.#isPassing = isPassing;
    this.#leases = leases;
    this.#clock = clock;
  }

  held(limit: LimitName, wallMs: number): number {
    const window = this.#at(limit, wallMs)?.window;
    if (window === undefined) return 0;
    const nowMs = this.#clock.nowMs();
    if (window.isNew) this.#join(nowMs);
    window.noteCall(nowMs);
    return window.heldAt(nowMs);
  }

  left(limit: LimitName, wallMs: number): number {
    return this.#at(limit, wallMs)?.window.leftAt(this.#clock.nowMs()) ?? 0;
  }

  /** The first call of thousands of keys: it needs all limits, and the source may have to ask the ledger for budgets. */
  #join(nowMs: number): void {
    for (const taken of this.#taken.values()) for (const { window } of taken) if (window.isNew) window.join(nowMs);
  }

  short(limit: LimitName, needed: number): void {
    this.window(limit)?.short(needed);
  }

  holdsAll(limit: LimitName): boolean {
    return this.window(limit)?.holdsAll ?? false;
  }

  window(limit: LimitName): LeasedWindow | undefined {
    return this.#at(limit, this.#clock.wallMs())?.window;
  }

  /** Most of the time one key of thousands has changed: the others keep their limits. */
  change(limits: Level["limits"]): void {
    if (limits === this.#limits) return;
    this.#limits = limits;
    this.renew();
  }

  /** Updates the windows to the current limits and time. */
  renew(): void {
    const wallMs = this.#clock.wallMs();
    for (const limit of LIMIT_NAMES) {
      const value = this.#limits[limit];
      const taken = this.#taken.get(limit) ?? [];
      const kept = value === undefined ? [] : this.#windowsAt(limit, value, wallMs);
      for (const { shared } of taken) {
        const name = windowName(shared);
        if (!kept.some(({ window }) => window.name === name)) this.#leases.drop(name);
      }
      if (kept.length > 0) this.#taken.set(limit, kept);
      else this.#taken.delete(limit);
    }
  }

  #at(limit: LimitName, wallMs: number): Taken | undefined {
    const taken = this.#taken.get(limit);
    if (taken === undefined) return undefined;
    for (const one of taken) if (wallMs >= one.shared.sinceMs && wallMs < one.shared.untilMs) return one;
    // The clock was set to another day.
    this.renew();
    return this.#taken.get(limit)?.[0];
  }

  #windowsAt(limit: LimitName, value: number, wallMs: number): Taken[] {
    const now = windowAt(this.#account, limit, wallMs);
    const next =
      !this.#isPassing && now.untilMs - wallMs < AHEAD_MS ? [windowAt(this.#account, limit, now.untilMs)] : [];
    return [now, ...next].map((shared) => ({ shared, window: this.#take(limit, value, shared) }));
  }

  #take(limit: LimitName, value: number, shared: SharedWindow): LeasedWindow {
    const account = this.#account;
    const measure = measureOf(limit);
    const { wallMs } = this.#clock;
    // The window of a day is looked up by a moment of that day.
    const momentOf = () => (shared.sinceMs > 0 ? shared.sinceMs : wallMs());
    return this.#leases.window({
      name: windowName(shared),
      kind: measure !== undefined ? "budget" : SLOTS.has(limit) ? "slots" : "rate",
      limit: amountOf(limit, value),
      inUse: (nowMs) => account.inUse(limit, nowMs, momentOf()),
      ...(measure !== undefined && {
        reserved: () => account.meter.reservedOf(measure),
        spentByOthers: () => account.meter.learnt(measure, momentOf()),
      }),
      ...(this.#isPassing && { isPassing: true }),
    });
  }
}
