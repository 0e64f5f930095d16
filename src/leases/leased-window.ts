import { type Claim, MINUTE_MS, type WindowKind } from "./lease-source.ts";

/** What a window needs to know of its leases as a whole. */
export interface LeaseState {
  /** Until when what is held may be used, on the monotonic clock. */
  readonly validUntilMs: number;
  /** Since when the source is away for longer than a lease lasts. */
  readonly partedMs: number;
  readonly instances: number;
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
    if (nowMs < this.#state.validUntilMs) return this.#held;
    this.#state.part(nowMs);
    // Everywhere less is used by then, so that the shares of all are no more than the limit.
    const isSettled = this.kind !== "budget" && nowMs - this.#state.partedMs >= MINUTE_MS;
    return this.#fallback === undefined || isSettled ? this.#share() : this.#fallback;
  }

  /** A call was refused that needed so much. */
  short(needed: number): void {
    this.#shortage += needed;
    this.#state.touch(this, true);
  }

  /** The source was away for as long as a lease lasts: others may be using what was held here. */
  part(nowMs: number): void {
    const share = this.#share();
    const inUse = this.#inUse(nowMs);
    this.#fallback = Math.min(this.#held, this.kind === "budget" ? inUse + share : share);
    this.#held = Math.min(this.#held, inUse);
  }

  /**
   * Others are short of it: what is not used here is given back, down to an equal share at first, and then half of it at a time
   * while calls come here too.
   */
  giveBack(nowMs: number): void {
    const inUse = this.#inUse(nowMs);
    const share = this.#share();
    const isShort = this.#shortage > 0 || nowMs - this.#shortMs < SHORT_HERE_MS;
    const idle = this.#held - inUse;
    const half = inUse > 0 && idle * SMALL > this.#limit ? Math.floor(idle / 2) : 0;
    const kept = isShort || this.#held > share ? Math.max(inUse, share) : inUse + half;
    if (kept >= this.#held) return;
    this.#held = kept;
    this.#joinsUntilMs = nowMs;
    this.#state.touch(this, true);
  }

  claim(nowMs: number, spent: Readonly<Record<string, number>> | undefined): Claim {
    const inUse = this.#inUse(nowMs);
    const held = Math.max(this.#held, inUse);
    const claim = { window: this.name, kind: this.kind, limit: this.#limit, held, ...(spent && { spent }) };
    this.#claimed = claim;
    const shortage = this.#shortage;
    this.#shortage = 0;
    if (shortage > 0) {
      this.#shortMs = nowMs;
      return { ...claim, wants: Math.min(this.#limit, inUse + AHEAD * shortage), isShort: "of more" };
    }
    if (this.#joins(nowMs)) return { ...claim, isShort: "of its share" };
    return { ...claim, wants: held };
  }

  granted(held: number, nowMs: number): void {
    const claimed = this.#claimed;
    this.#held = this.#limit < claimed.limit ? scale(held, claimed.limit, this.#limit) : held;
    this.#fallback = undefined;
    const isOver = held < claimed.held || this.#inUse(nowMs) > held;
    if (isOver || this.#joins(nowMs)) this.#state.touch(this, false);
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
