import type { Waits } from "./divide.ts";

/**
 * What happens to an instance's part when it dies: a `rate` counts for a minute more, since it may have been used;
 * `slots` are free, since its calls died too; of a `budget`, the ledger shows how much was spent.
 */
export type WindowKind = "rate" | "slots" | "budget";

/**
 * What an instance reports of one window: a limit of a key, a project or the gateway, for one day or month if it has
 * one.
 */
export interface Claim {
  window: string;
  kind: WindowKind;
  limit: number;
  /** What it may use from the moment it sends this, or has used. Less than before gives the rest back. */
  held: number;
  /** The source has answered for it in this epoch: if it now holds nothing for this instance, it has lost it. */
  isKnown?: boolean;
  /** The part of what is held that is in use or was used. */
  used: number;
  /** The part of a budget's use that calls in flight have reserved; default: 0. */
  reserved?: number;
  /** What recent calls have used, or may use soon: others get it last. Default: what is used. */
  busy?: number;
  /** Calls wait for more, the first of them since this time of the source. */
  waits?: Waits & { sinceMs: number };
  /** There are very many of its kind, so only instances that hold some of it learn that more is needed. */
  isPassing?: boolean;
  /**
   * It is not used here any more. What was spent of a budget is in the ledger, and once no instance holds any of it,
   * the source forgets it.
   */
  forgets?: boolean;
  /** How much it would like to hold beyond the needs of waiting calls; `share` is an equal share. */
  wants?: number | "share";
  /**
   * What each instance has spent according to the ledger, with those long gone as "": sent when the source does not
   * know the window (`SyncAnswer.unknown`).
   */
  spent?: Readonly<Record<string, number>>;
}

/** What a dead instance has spent of one window according to the ledger. */
export interface Reclaim {
  instance: string;
  window: string;
  spent: number;
}

export interface Sync {
  instance: string;
  /** Counts up from 1: a message that arrives after a later one is ignored. */
  number: number;
  /** The epoch that it knows; "" if it knows none or was separated from the source for too long. */
  epoch: string;
  /** The last one whose answer has arrived; a source of the same epoch that does not know it has lost its state. */
  answered: number;
  /** How long ago that one was sent, by a monotonic clock: the source's own clock may be set (H30). */
  answeredAgoMs: number;
  /** The name of the folder with its journal. */
  journals: string;
  /**
   * Some of its receipts are only in its journal. If it dies now, only an instance with the same journals knows what
   * it has spent.
   */
  isBehind: boolean;
  claims: readonly Claim[];
  reclaims: readonly Reclaim[];
  /** No other instance can hold anything: an empty source was never filled. */
  isFirst: boolean;
  /** Instances that are known to have died. */
  dead: readonly string[];
  /** It has stopped: from now on it counts as dead. */
  leaves: boolean;
  /** For all other instances. */
  news: readonly string[];
  /** The number of the last news received. */
  newsSeen: number;
}

export interface SyncAnswer {
  /** A new epoch: the source has lost its state, and needs every claim again. */
  epoch: string;
  /** The time of the source, which decides the order of calls. */
  nowMs: number;
  /** Live instances, including this one. */
  instances: number;
  /** What is now held of each claimed window, in their order. */
  held: readonly number[];
  /** What no instance uses of each, as far as is known. */
  left: readonly number[];
  /** Claimed budgets whose spending the source needs to know. */
  unknown: readonly string[];
  /**
   * Windows that others need: the most of each that this instance should hold beyond its use. It reports its use
   * again.
   */
  wanted: readonly { window: string; level: number }[];
  /** Claimed budgets of which no other instance holds anything unspent: a call here runs alone. */
  alone: readonly string[];
  /**
   * What dead instances hold of budgets, until the ledger's sums are sent as reclaims: only those whose receipts can
   * be known here.
   */
  dead: readonly { instance: string; windows: readonly string[] }[];
  news: readonly string[];
  newsSeen: number;
}

/** Shares limits between instances. The sum of what all of them hold of a window never exceeds its limit. */
export interface LeaseSource {
  /** One round trip for many windows. Rejects in time if the source does not answer. */
  sync(sync: Sync): Promise<SyncAnswer>;
  close(): Promise<void>;
  /**
   * Called when others need some of what is held here, or have given what is needed here, if the source can notify at
   * once.
   */
  onWanted?: () => void;
}

/** After this time, the journal of a dead instance is considered lost. */
export const JOURNAL_LOST_MS = 86_400_000;
/** Rates are counted in whole seconds. */
export const MINUTE_MS = 61_000;
/**
 * If the source has not heard of any instance for longer than this, that time counts against none: the source itself
 * was unavailable.
 */
export const SILENCE_MS = 2_000;
/** How far the clock of a source may be ahead of the time that instances report: more means that it was set. */
export const STEP_MS = 2_000;
/** So long only those are asked for what a waiting call needs who are believed to have it, and then all who hold any. */
export const FEW_ASKED_MS = 40;
/** How long others are notified that an instance was short. */
export const SHORT_MS = 1_000;
/** The most windows of dead instances in one answer. */
export const MAX_DEAD_WINDOWS = 200;
/** The most windows that others need in one answer. */
export const MAX_WANTED = 200;
/** Older news are lost to an instance that has not read them. */
export const MAX_NEWS = 1_000;
/** How long a gone instance is remembered once it holds nothing. */
export const FORGET_MS = 3_600_000;
/**
 * A window that no instance has reported for this long is forgotten; each instance reports all of its windows within
 * minutes.
 */
export const KEPT_MS = 172_800_000;
