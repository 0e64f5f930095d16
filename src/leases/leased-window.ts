import type { Clock } from "../base/clock.ts";
import { type Claim, MINUTE_MS, type WindowKind } from "./lease-source.ts";
import { RecentPeak } from "./recent-peak.ts";

/** What a window needs to know of its leases as a whole. */
export interface LeaseState {
  /** Until when what is held may be used, on the monotonic clock. */
  readonly validUntilMs: number;
  /** Since when the source is away for longer than a lease lasts. */
  readonly partedMs: number;
  readonly instances: number;
  readonly clock: Clock;
  /** The source answers, so that more may be had of it. */
  readonly isAnswered: boolean;
  /** The source is to be told of it, soon where calls wait for that. */
  touch(window: LeasedWindow, isUrgent: boolean): void;
  /** What is held is no longer valid. */
  part(nowMs: number): void;
}

export interface WindowOptions {
  name: string;
  kind: WindowKind;
  limit: number;
  /** What this process has used of it: in the last minute, calls under way, or money spent since its start and reserved. */
  inUse: (nowMs: number) => number;
}

/** What this process may use of one limit. Nothing of it waits for the source. */
export class LeasedWindow {
  readonly name: string;
  readonly kind: WindowKind;
  /** The source has answered for it in this epoch. */
  isKnown = false;
  readonly #inUse: (nowMs: number) => number;
  readonly #state: LeaseState;
  #limit: number;
  #held = 0;
  /** What may be used while the source is away for too long. */
  #fallback: number | undefined;
  #shortage = 0;
  #shortMs = Number.NEGATIVE_INFINITY;
  /** Until when it asks others for its share. */
  #joinsUntilMs: number;
  #claimed = { limit: 0, held: 0 };
  /** Calls under way at one time, of late: at this moment there may be none. */
  readonly #peak = new RecentPeak();
  /** Calls that wait for more, and how much each needs. */
  readonly #waiting = new Map<() => void, number>();
  /** Until then no call waits: those before have waited in vain. */
  #inVainUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ name, kind, limit, inUse }: WindowOptions, state: LeaseState, nowMs: number) {
    this.name = name;
    this.kind = kind;
    this.#limit = limit;
    this.#inUse = inUse;
    this.#state = state;
    this.#joinsUntilMs = nowMs + JOIN_MS;
  }

  get held(): number {
    return this.#held;
  }

  get limit(): number {
    return this.#limit;
  }

  /** What is held shrinks with the limit at once, and grows when more is granted. */
  changeLimit(limit: number, nowMs: number): void {
    if (limit === this.#limit) return;
    if (limit < this.#limit) this.#held = scale(this.#held, this.#limit, limit);
    else this.#joinsUntilMs = nowMs + JOIN_MS;
    this.#limit = limit;
    this.#state.touch(this, true);
  }

  /** The most that may be in use now. */
  heldAt(nowMs: number): number {
    if (this.kind === "slots") this.#peak.note(this.#inUse(nowMs) + 1, nowMs);
    if (nowMs < this.#state.validUntilMs) return this.#held;
    this.#state.part(nowMs);
    return this.#withoutSource(nowMs);
  }

  /** The most that may be in use while the source is away for longer than a lease lasts. */
  #withoutSource(nowMs: number): number {
    // Everywhere less is used by then, so that the shares of all are no more than the limit.
    const isSettled = this.kind !== "budget" && nowMs - this.#state.partedMs >= MINUTE_MS;
    return this.#fallback === undefined || isSettled ? this.#share() : this.#fallback;
  }

  /** A call was refused that needed so much. */
  short(needed: number): void {
    this.#shortage += needed;
    this.#state.touch(this, true);
  }

  /**
   * Resolves when more is held than now, at the latest at that time. Undefined where a call that needs so much has no reason to
   * wait for it.
   */
  more(needed: number, untilMs: number): Promise<void> | undefined {
    const { clock, isAnswered } = this.#state;
    const nowMs = clock.nowMs();
    const isInVain = nowMs >= untilMs || nowMs < this.#inVainUntilMs || nowMs >= this.#state.validUntilMs;
    if (!isAnswered || isInVain || this.#waiting.size >= MAX_WAITING) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = clock.after(untilMs - nowMs, () => {
      this.#waiting.delete(wake);
      this.#inVainUntilMs = untilMs + IN_VAIN_MS;
      resolve();
    });
    const wake = () => {
      cancel();
      resolve();
    };
    this.#waiting.set(wake, needed);
    return promise;
  }

  /** The source was away for as long as a lease lasts: others may be using what was held here. */
  part(nowMs: number): void {
    const share = this.#share();
    const inUse = this.#inUse(nowMs);
    this.#fallback = Math.min(this.#held, this.kind === "budget" ? inUse + share : share);
    this.#held = Math.min(this.#held, inUse);
  }

  /**
   * Others are short of it: what is not used here is given back, down to an equal share at first, and then, while calls come here
   * too, half of it at a time, or of what calls use at one time.
   */
  giveBack(nowMs: number): void {
    const inUse = this.#inUse(nowMs);
    const share = this.#share();
    const isShort = this.#shortage > 0 || this.#waiting.size > 0 || nowMs - this.#shortMs < SHORT_HERE_MS;
    const kept = isShort || this.#held > share ? Math.max(inUse, share) : inUse + this.#halfIdle(inUse, share, nowMs);
    if (kept >= this.#held) return;
    this.#held = kept;
    this.#joinsUntilMs = nowMs;
    this.#state.touch(this, true);
  }

  #halfIdle(inUse: number, share: number, nowMs: number): number {
    if (this.kind === "slots") return Math.max(0, Math.floor((Math.min(share, this.#peak.at(nowMs)) - inUse) / 2));
    const idle = this.#held - inUse;
    return inUse > 0 && idle * SMALL > this.#limit ? Math.floor(idle / 2) : 0;
  }

  claim(nowMs: number, spent: Readonly<Record<string, number>> | undefined): Claim {
    const inUse = this.#inUse(nowMs);
    // A source that comes back empty grants nothing for a while but what is told, which must be what calls use meanwhile.
    const fallback = this.#fallback === undefined ? 0 : this.#withoutSource(nowMs);
    const held = Math.max(this.#held, inUse, fallback);
    const { name, kind, isKnown } = this;
    const claim = { window: name, kind, limit: this.#limit, held, isKnown, ...(spent && { spent }) };
    this.#claimed = claim;
    const awaited = this.#waiting.values().reduce((sum, needed) => sum + needed, 0);
    const shortage = Math.max(this.#shortage, awaited);
    this.#shortage = 0;
    if (shortage > 0) {
      this.#shortMs = nowMs;
      const most = Math.max(inUse, this.#peak.at(nowMs));
      return { ...claim, wants: Math.min(this.#limit, most + AHEAD * shortage), isShort: "of more" };
    }
    if (this.#joins(nowMs)) return { ...claim, isShort: "of its share" };
    return { ...claim, wants: held };
  }

  granted(held: number, nowMs: number): void {
    const claimed = this.#claimed;
    this.#held = this.#limit < claimed.limit ? scale(held, claimed.limit, this.#limit) : held;
    this.#fallback = undefined;
    const isOver = held < claimed.held || this.#inUse(nowMs) > held;
    // What was held before is no longer: all must have their share again.
    if (!this.isKnown) this.#joinsUntilMs = nowMs + JOIN_MS;
    this.isKnown = true;
    if (held > claimed.held) this.#wake();
    if (isOver || this.#waiting.size > 0 || this.#joins(nowMs)) this.#state.touch(this, false);
  }

  /** Those for whom it is not enough wait again. */
  #wake(): void {
    this.#inVainUntilMs = Number.NEGATIVE_INFINITY;
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** It is used no more: only what was used is still held. */
  leave(nowMs: number): void {
    this.#held = Math.min(this.#held, this.#inUse(nowMs));
    this.#joinsUntilMs = nowMs;
    this.#state.touch(this, false);
  }

  /** It is new, and has not got its share yet. */
  #joins(nowMs: number): boolean {
    return nowMs < this.#joinsUntilMs && this.#held < this.#share();
  }

  #share(): number {
    return Math.floor(this.#limit / this.#state.instances);
  }
}

const scale = (held: number, from: number, to: number): number => Math.floor((held / from) * to);

/** So many times what was refused is asked for: more calls will come. */
const AHEAD = 4;
/** For so long a new window asks others for its share. */
const JOIN_MS = 3_000;
/** For so long after a refusal, a window keeps its share. */
const SHORT_HERE_MS = 1_000;
/** What is less than this part of a limit is not divided any further. */
const SMALL = 64;
/** More calls than this do not wait for one window: what is refused holds no memory (S17). */
const MAX_WAITING = 100;
/** For so long no call waits after one has waited in vain. */
const IN_VAIN_MS = 1_000;
