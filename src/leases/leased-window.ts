import type { Cancel, Clock } from "../base/clock.ts";
import { type Claim, MINUTE_MS, type WindowKind } from "./lease-source.ts";
import { RecentPeak } from "./recent-peak.ts";

/** The state of all leases that a window needs to know. */
export interface LeaseState {
  /** Until when what is held may be used, on the monotonic clock. */
  readonly validUntilMs: number;
  /** Since when the source has been unavailable for longer than a lease lasts. */
  readonly partedMs: number;
  readonly instances: number;
  /**
   * How far the source's clock is ahead of this process's. It does not change while the source keeps its state: calls
   * are served by their time.
   */
  readonly sourceAheadMs: number;
  readonly clock: Clock;
  /** The source answers, so that more can be had from it. */
  readonly isAnswered: boolean;
  /** The source must learn of it, soon if calls wait for that. */
  touch(window: LeasedWindow, isUrgent: boolean): void;
  /** What is held is no longer valid. */
  part(nowMs: number): void;
}

export interface WindowOptions {
  name: string;
  kind: WindowKind;
  limit: number;
  /**
   * What this process has used of it: in the last minute, calls in flight, or money spent since its start and
   * reserved.
   */
  inUse: (nowMs: number) => number;
  /** For a budget: the part that calls in flight have reserved. */
  reserved?: () => number;
  /** For a budget: what others have spent of it, as far as this process knows. */
  spentByOthers?: () => number;
  /** There are very many of its kind, each used for a while: the source forgets it with the last one that uses it. */
  isPassing?: boolean;
  /** It takes no share before the first call, and the source does not know it until then. */
  isLazy?: boolean;
}

/** What a waiting call needs of one window. */
export interface Need {
  needed: number;
  /** For a budget: how much is enough if the call runs alone. */
  alone?: number | undefined;
}

/** A call that waits for more, of one window or of several. */
export interface Waiter {
  readonly sinceMs: number;
  /** More is held than before, or its time is up. */
  wake(): void;
  /** One of the windows that it needs has too little, whoever holds it. */
  isHopeless(): boolean;
}

/** What this process may use of one limit. Nothing here waits for the source. */
export class LeasedWindow {
  readonly name: string;
  readonly kind: WindowKind;
  /** The source has answered for it in this epoch. */
  isKnown = false;
  readonly isPassing: boolean;
  readonly isLazy: boolean;
  #inUse: (nowMs: number) => number;
  #reserved: () => number;
  #spentByOthers: () => number;
  #isLeaving = false;
  readonly #state: LeaseState;
  #limit: number;
  #held = 0;
  /** What no instance used of it when the source last answered. */
  #left = Number.POSITIVE_INFINITY;
  /** What this process had used of it then. */
  #usedThen = 0;
  /** No other instance holds anything unspent. True from an answer until the next message. */
  #holdsAll = false;
  #isReported = false;
  /** What may be used while the source is unavailable for too long. */
  #fallback: number | undefined;
  #shortage = 0;
  /** Until when it requests its share from others. */
  #joinsUntilMs: number;
  #claimed = { limit: 0, held: 0, used: 0, waits: false };
  /** When a call last arrived. */
  #calledMs = Number.NEGATIVE_INFINITY;
  /** Recent concurrent calls: at this moment there may be none. */
  readonly #peak = new RecentPeak();
  readonly #waiting = new Map<Waiter, Need>();
  /** Until then no call that needs as much waits: earlier ones have waited in vain. */
  #inVain = { untilMs: Number.NEGATIVE_INFINITY, needed: 0 };

  constructor(options: WindowOptions, state: LeaseState, nowMs: number) {
    const { name, kind, limit, inUse, reserved = NOTHING, spentByOthers = NOTHING } = options;
    const { isPassing = false, isLazy = isPassing } = options;
    this.name = name;
    this.isPassing = isPassing;
    this.isLazy = isLazy;
    this.kind = kind;
    this.#limit = limit;
    this.#inUse = inUse;
    this.#reserved = reserved;
    this.#spentByOthers = spentByOthers;
    this.#state = state;
    // Most limits of end users are used through one process at a time: they take what calls need.
    this.#joinsUntilMs = isLazy ? nowMs : nowMs + JOIN_MS;
  }

  /** It is used again, perhaps by a new account. */
  reuse({ limit, inUse, reserved = NOTHING, spentByOthers = NOTHING }: WindowOptions, nowMs: number): void {
    this.#inUse = inUse;
    this.#reserved = reserved;
    this.#spentByOthers = spentByOthers;
    this.#isLeaving = false;
    this.changeLimit(limit, nowMs);
  }

  get held(): number {
    return this.#held;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Whether a call that needs more than is left runs alone. */
  get holdsAll(): boolean {
    return this.#holdsAll && this.#state.clock.nowMs() < this.#state.validUntilMs;
  }

  /** What is held shrinks with the limit at once, and grows when more is granted. */
  changeLimit(limit: number, nowMs: number): void {
    if (limit === this.#limit) return;
    if (this.isNew) {
      this.#limit = limit;
      return;
    }
    if (limit < this.#limit) this.#held = scale(this.#held, this.#limit, limit);
    else if (!this.isPassing) this.#joinsUntilMs = nowMs + JOIN_MS;
    this.#limit = limit;
    this.#left = Number.POSITIVE_INFINITY;
    this.#usedThen = 0;
    this.#holdsAll = false;
    this.#inVain.untilMs = Number.NEGATIVE_INFINITY;
    this.#state.touch(this, true);
  }

  /** No call has needed it yet, so that the source does not know it. */
  get isNew(): boolean {
    return this.isLazy && !this.isPassing && !this.#isReported;
  }

  /** Takes a share of it: the first call has arrived. */
  join(nowMs: number): void {
    this.#joinsUntilMs = nowMs + JOIN_MS;
    this.#state.touch(this, true);
  }

  /** A call is about to use some of it. */
  noteCall(nowMs: number): void {
    this.#calledMs = nowMs;
    if (this.kind === "slots") this.#peak.note(this.#inUse(nowMs) + 1, nowMs);
  }

  /** The most that may be in use now. */
  heldAt(nowMs: number): number {
    if (nowMs < this.#state.validUntilMs) return this.#held;
    this.#state.part(nowMs);
    return this.#withoutSource(nowMs);
  }

  /** How much of the limit no process has used, as far as is known here. */
  leftAt(nowMs: number): number {
    const inUse = this.#inUse(nowMs);
    const own = this.heldAt(nowMs) - inUse;
    if (nowMs >= this.#state.validUntilMs) return own;
    const left = this.#left === Number.POSITIVE_INFINITY ? this.#limit - this.#spentByOthers() : this.#left;
    return Math.max(own, left - (inUse - this.#usedThen));
  }

  /** The most that may be in use while the source is unavailable for longer than a lease lasts. */
  #withoutSource(nowMs: number): number {
    // By then every instance uses less, so that all shares together do not exceed the limit.
    const isSettled = this.kind !== "budget" && nowMs - this.#state.partedMs >= MINUTE_MS;
    if (this.#fallback !== undefined && !isSettled) return this.#fallback;
    return Math.floor(Math.max(0, this.#limit - this.#spentByOthers()) / this.#state.instances);
  }

  /** A call found too little for its need. */
  short(needed: number): void {
    this.#shortage += needed;
    this.#state.touch(this, true);
  }

  /** Whether a call with this need has a reason to wait. */
  mayWait({ needed }: Need): boolean {
    const { clock, isAnswered, validUntilMs } = this.#state;
    const nowMs = clock.nowMs();
    const isInVain = nowMs < this.#inVain.untilMs && needed >= this.#inVain.needed;
    return isAnswered && !isInVain && nowMs < validUntilMs && this.#waiting.size < MAX_WAITING;
  }

  /** There is less than a call needs, whoever holds it. */
  lacks({ needed, alone = needed }: Need): boolean {
    return alone > this.#left;
  }

  /** Reports the call's need to the source until the returned function is called. */
  wait(waiter: Waiter, need: Need): () => void {
    this.#waiting.set(waiter, need);
    this.#state.touch(this, true);
    return () => void this.#waiting.delete(waiter);
  }

  after(ms: number, run: () => void): Cancel {
    return this.#state.clock.after(ms, run);
  }

  /** A call has waited in vain: the next ones do not wait for a while. */
  giveUp({ needed }: Need): void {
    const nowMs = this.#state.clock.nowMs();
    // Of the calls that waited in vain, the smallest need counts, for about a second.
    if (nowMs >= this.#inVain.untilMs || needed <= this.#inVain.needed)
      this.#inVain = { untilMs: nowMs + IN_VAIN_MS, needed };
    // Others need not make room for it any longer.
    this.#state.touch(this, true);
  }

  /** The source was unavailable for as long as a lease lasts: others may be using what was held here. */
  part(nowMs: number): void {
    const share = this.#share();
    const inUse = this.#inUse(nowMs);
    this.#fallback = Math.min(this.#held, this.kind === "budget" ? inUse + share : share);
    this.#held = Math.min(this.#held, inUse);
    this.#holdsAll = false;
  }

  /** Others need what is held here beyond this level, as far as it is not used. */
  giveBack(level: number, nowMs: number): void {
    const inUse = this.#inUse(nowMs);
    const kept = Math.max(inUse, level);
    const isLess = kept < this.#held;
    if (isLess) {
      this.#held = kept;
      this.#holdsAll = false;
      this.#joinsUntilMs = nowMs;
    }
    // Reported in any case: the source may believe that more is used, or have lost it.
    this.#state.touch(this, isLess || inUse < this.#claimed.used);
  }

  claim(nowMs: number, spent: Readonly<Record<string, number>> | undefined): Claim {
    const used = this.#inUse(nowMs);
    // A source that returns empty grants nothing for a while except what is reported, which must be what calls use
    // in the meantime.
    const fallback = this.#fallback === undefined ? 0 : this.#withoutSource(nowMs);
    const held = Math.max(this.#held, used, fallback);
    this.#holdsAll = false;
    this.#isReported = true;
    const waits = this.#waits();
    const wants = this.#wants(used, nowMs);
    this.#shortage = 0;
    this.#claimed = { limit: this.#limit, held, used, waits: waits !== undefined };
    const reserved = this.#reserved();
    const busy = this.#busy(used, held, nowMs);
    return {
      window: this.name,
      kind: this.kind,
      limit: this.#limit,
      held,
      isKnown: this.isKnown,
      used,
      ...(reserved > 0 && { reserved }),
      ...(this.isLazy && { isPassing: true }),
      ...(this.#isLeaving && (this.kind === "budget" || used === 0) && { forgets: true }),
      ...(busy > used && { busy }),
      ...(waits && { waits }),
      ...(wants !== undefined && { wants }),
      ...(spent && { spent }),
    };
  }

  #waits(): Claim["waits"] {
    const waiting = this.#byAge();
    const hopeful = waiting.filter(([waiter]) => !waiter.isHopeless());
    const served = hopeful.length > 0 ? hopeful : waiting;
    const [oldest] = served;
    if (oldest === undefined) return undefined;
    const [{ sinceMs }, { needed: first, alone }] = oldest;
    let least = first;
    let all = 0;
    for (const [, { needed }] of served) {
      least = Math.min(least, needed);
      all += needed;
    }
    return {
      sinceMs: Math.round(sinceMs + this.#state.sourceAheadMs),
      first,
      least,
      all,
      ...(alone !== undefined && { alone }),
      ...(hopeful.length === 0 && { isHopeless: true }),
    };
  }

  #wants(used: number, nowMs: number): Claim["wants"] {
    if (this.#shortage > 0) return Math.min(this.#limit, Math.max(used, this.#peak.at(nowMs)) + AHEAD * this.#shortage);
    return this.#joins(nowMs) ? "share" : undefined;
  }

  #busy(used: number, held: number, nowMs: number): number {
    if (this.kind === "slots") return Math.max(used, this.#peak.at(nowMs));
    return nowMs - this.#calledMs < BUSY_MS ? held : used;
  }

  granted(held: number, left: number, holdsAll: boolean, nowMs: number): void {
    this.#left = left;
    const claimed = this.#claimed;
    this.#usedThen = claimed.used;
    this.#held = this.#limit < claimed.limit ? scale(held, claimed.limit, this.#limit) : held;
    this.#holdsAll = holdsAll && this.#limit === claimed.limit;
    this.#fallback = undefined;
    const isOver = held < claimed.held || this.#inUse(nowMs) > held;
    // What was held before is lost: all must get their share again.
    if (!this.isKnown && !this.isPassing) this.#joinsUntilMs = nowMs + JOIN_MS;
    this.isKnown = true;
    const isMore = held > claimed.held || this.#holdsAll;
    this.#wake(nowMs);
    // Its current use must be known before others wait for it.
    if (isMore && claimed.waits) this.#state.touch(this, true);
    else if (isOver || this.#waiting.size > 0 || this.#joins(nowMs)) this.#state.touch(this, false);
  }

  /** Retries the calls that fit now, oldest first. Calls that have ended here make room, too. */
  #wake(nowMs: number): void {
    let idle = this.#held - this.#inUse(nowMs);
    for (const [waiter, { needed, alone = needed }] of this.#byAge()) {
      const fits = needed <= idle || (this.#holdsAll && alone <= idle);
      if (!fits) continue;
      idle -= needed;
      this.#inVain.untilMs = Number.NEGATIVE_INFINITY;
      waiter.wake();
    }
  }

  #byAge(): [Waiter, Need][] {
    return [...this.#waiting].sort(([one], [other]) => one.sinceMs - other.sinceMs);
  }

  /** It is no longer used: only what was used is still held. */
  leave(nowMs: number): void {
    this.#held = Math.min(this.#held, this.#inUse(nowMs));
    this.#holdsAll = false;
    this.#joinsUntilMs = nowMs;
    this.#isLeaving = this.isPassing;
    this.#state.touch(this, false);
  }

  /** The source does not know it, and need not. */
  isUnused(nowMs: number): boolean {
    return this.isNew && this.#inUse(nowMs) === 0;
  }

  /** Nothing that it has used would be lost with it. */
  mayBeForgotten(nowMs: number): boolean {
    return this.#isLeaving && (this.kind === "budget" || this.#inUse(nowMs) === 0);
  }

  /** It is new, and has not received its share yet. */
  #joins(nowMs: number): boolean {
    return nowMs < this.#joinsUntilMs && this.#held < this.#share();
  }

  #share(): number {
    return Math.floor(this.#limit / this.#state.instances);
  }
}

const NOTHING = () => 0;

const scale = (held: number, from: number, to: number): number => Math.floor((held / from) * to);

/** How many times a refused amount is requested: more calls will arrive. */
const AHEAD = 4;
/** How long a new window requests its share from others. */
const JOIN_MS = 3_000;
/** How long after a call others get its spare capacity last. */
const BUSY_MS = 2_000;
/** The most calls that wait for one window: refused calls hold no memory (S17). */
const MAX_WAITING = 1_000;
/**
 * How long no call waits after one has waited in vain: including that wait, less than a second after there was too
 * little.
 */
const IN_VAIN_MS = 400;
