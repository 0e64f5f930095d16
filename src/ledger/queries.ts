import { GatewayError } from "../canon/error.ts";
import type { Receipt } from "../canon/receipt.ts";
import { selectReceipt, selectReceiptPosition, selectReceipts } from "../storage/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { sumCostByKey, sumCostOfKey, sumUsage, type UsageGroup, type UsageSum } from "../storage/usage-sums.ts";

export const MAX_PAGE = 200;
const MAX_GROUPS = 1_000;
const DAY_MS = 86_400_000;

/** The receipt, if it is that project's; another project's receipt looks as if it never existed (S09). */
export function findReceipt(storage: Storage, project: string, id: string): Promise<Receipt | undefined> {
  return selectReceipt(storage, project, id);
}

export interface UsageRange {
  project?: string;
  keyId?: string;
  sinceMs: number;
  /** Not included. */
  untilMs: number;
  groupBy: UsageGroup;
}

/**
 * Calls, counters, cost and failures by group: days in order as `2026-01-31` (UTC), all other groups by cost, highest first.
 */
export async function summariseUsage(storage: Storage, range: UsageRange): Promise<UsageSum[]> {
  const sums = await sumUsage(storage, { ...range, limit: MAX_GROUPS });
  if (range.groupBy !== "day") return sums;
  return sums.map((sum) => ({ ...sum, group: new Date(Number(sum.group) * DAY_MS).toISOString().slice(0, 10) }));
}

export interface RecentRange {
  project?: string;
  /** 1 to 200. */
  limit: number;
  /** The last receipt of the page before. */
  beforeId?: string;
}

/** Receipts, the newest first, a page at a time. */
export async function recentReceipts(storage: Storage, range: RecentRange): Promise<Receipt[]> {
  if (!Number.isInteger(range.limit) || range.limit < 1 || range.limit > MAX_PAGE) {
    throw new GatewayError("invalid_request", `\`limit\` must be a whole number from 1 to ${MAX_PAGE}.`, {
      path: "limit",
    });
  }
  const { beforeId, ...page } = range;
  if (beforeId === undefined) return await selectReceipts(storage, page);
  const before = await selectReceiptPosition(storage, beforeId, range.project);
  if (before === undefined) {
    throw new GatewayError(
      "not_found",
      "`before` names no receipt: give the id of the last receipt of the page before.",
      {
        path: "before",
      },
    );
  }
  return await selectReceipts(storage, { ...page, before });
}

/** What one key has spent since a time. */
export function spentNanoUsd(storage: Storage, of: { keyId: string; sinceMs: number }): Promise<number> {
  return sumCostOfKey(storage, of.keyId, of.sinceMs);
}

export interface Spent {
  /** Nano-dollars since the start of the UTC day, of the UTC month, and in total. */
  day: number;
  month: number;
  total: number;
}

/** What every key has spent, for budgets to start from when the gateway starts. */
export async function spentByKey(storage: Storage, nowMs: number): Promise<ReadonlyMap<string, Spent>> {
  const now = new Date(nowMs);
  const monthStartMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const costs = await sumCostByKey(storage, nowMs - (nowMs % DAY_MS), monthStartMs);
  return new Map(costs.map(({ keyId, ...spent }) => [keyId, spent]));
}
