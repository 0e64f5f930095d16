import type { Waits } from "./divide.ts";

/**
 * What becomes of an instance's part when that instance dies: of a `rate`, it counts for a minute more, since it may have been
 * used; of `slots`, it is free, since its calls died too; of a `budget`, the ledger says how much was spent.
 */
export type WindowKind = "rate" | "slots" | "budget";

/** What an instance says of one window: a limit of a key, a project or the gateway, and of one day or month where it has one. */
export interface Claim {
  window: string;
  kind: WindowKind;
  limit: number;
  /** What it may use from the moment at which it sends this, or has used. Less than before gives the rest back. */
  held: number;
  /** The source has answered for it in this epoch: one that holds nothing of it for this instance has lost it. */
  isKnown?: boolean;
  /** Of what is held, what is in use or was used. */
  used: number;
  /** Of what is used of a budget, what calls in flight have reserved; 0 where absent. */
  reserved?: number;
  /** What recent calls have used, or may use soon: others get it last. What is used where absent. */
  busy?: number;
  /** Calls wait for more; the first of them since that time of the source. */
  waits?: Waits & { sinceMs: number };
  /** How much it would like to hold beyond what calls wait for; an equal share. */
  wants?: number | "share";
  /**
   * What each instance has spent, by the ledger, those that are long gone as "": sent when the source does not know the window
   * (`SyncAnswer.unknown`).
   */
  spent?: Readonly<Record<string, number>>;
}

/** What the ledger says a dead instance has spent of one window. */
export interface Reclaim {
  instance: string;
  window: string;
  spent: number;
}

export interface Sync {
  instance: string;
  /** Counts up from 1: what arrives after a later one is ignored. */
  number: number;
  /** The epoch that it knows, "" where it knows none or was parted from the source for too long. */
  epoch: string;
  /** The last one whose answer has arrived; a source of the same epoch that does not know of it has lost what it knew. */
  answered: number;
  /** How long ago that one was sent, by a clock that never steps: the source's own clock may be set (H30). */
  answeredAgoMs: number;
  /** The name of the folder with its journal. */
  journals: string;
  /** Receipts of it are in its journal alone. Should it die now, only an instance with the same journals can tell what it has spent. */
  isBehind: boolean;
  claims: readonly Claim[];
  reclaims: readonly Reclaim[];
  /** No other instance can hold anything: a source that is empty was never filled. */
  isFirst: boolean;
  /** Instances that are known to have died. */
  dead: readonly string[];
  /** It ends: what it still holds is what it has used. */
  leaves: boolean;
  /** For all other instances. */
  news: readonly string[];
  /** Up to which number news were received. */
  newsSeen: number;
}

export interface SyncAnswer {
  /** Another one than before: the source has lost what it knew, and needs every claim again. */
  epoch: string;
  /** The time of the source: what is first is decided by it. */
  nowMs: number;
  /** Instances that live, this one included. */
  instances: number;
  /** What is held of each claimed window now, in their order. */
  held: readonly number[];
  /** What no instance uses of each, as far as it is known. */
  left: readonly number[];
  /** Claimed budgets of which the source needs to know what was spent. */
  unknown: readonly string[];
  /** Windows of which others need some: how much of each this instance is to hold at most, beyond what it uses. It says again what it uses. */
  wanted: readonly { window: string; level: number }[];
  /** Claimed budgets of which no other instance holds anything that it has not spent: a call here runs alone. */
  alone: readonly string[];
  /** What dead instances hold of budgets, until the ledger's sums are sent as reclaims: of those whose receipts can be known here. */
  dead: readonly { instance: string; windows: readonly string[] }[];
  news: readonly string[];
  newsSeen: number;
}

/** Where instances share limits. The sum of what all of them hold of a window is never more than its limit. */
export interface LeaseSource {
  /** One round trip for many windows. Rejects in time where the source does not answer. */
  sync(sync: Sync): Promise<SyncAnswer>;
  close(): Promise<void>;
  /** Called when others want some of what is held here, or have given what is wanted here, where the source can tell at once. */
  onWanted?: () => void;
}

/** After so long, the journal of a dead instance is taken for lost. */
export const JOURNAL_LOST_MS = 86_400_000;
/** A rate counts by whole seconds. */
export const MINUTE_MS = 61_000;
/** Time in which the source heard of no instance for longer than this counts against none: it was away itself. */
export const SILENCE_MS = 2_000;
/** By so much the clock of a source may be ahead of what instances say has passed: more than that, and it was set. */
export const STEP_MS = 2_000;
/** How long others are told that an instance was short. */
export const SHORT_MS = 1_000;
/** At most so many windows of dead instances are told at once. */
export const MAX_DEAD_WINDOWS = 200;
/** At most so many windows that others want. */
export const MAX_WANTED = 200;
/** News that an instance has not read by then are lost to it. */
export const MAX_NEWS = 1_000;
/** How long an instance that is gone is remembered once it holds nothing. */
export const FORGET_MS = 3_600_000;
/** A window that no instance has told of for so long is forgotten; each tells of all of its windows within minutes. */
export const KEPT_MS = 172_800_000;
