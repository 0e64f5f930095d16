import type { Receipt } from "../canon/receipt.ts";
import { selectMakers } from "../storage/keys.ts";
import { selectReceipt } from "../storage/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { sumCostByKey, sumCostOfInstance, sumUsage, type UsageGroup, type UsageSum } from "../storage/usage-sums.ts";

const MAX_GROUPS = 1_000;
const DAY_MS = 86_400_000;

/** The receipt, if it is that project's; another project's receipt looks as if it never existed (S09). */
export function findReceipt(storage: Storage, project: string, id: string): Promise<Receipt | undefined> {
  return selectReceipt(storage, project, id);
}

interface UsageRange {
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

export interface Spent {
  /** Nano-dollars since the start of the UTC day, of the UTC month, and in total. */
  day: number;
  month: number;
  total: number;
}

export interface SpentByOwner {
  /** What the keys that a key made have spent is part of what it has spent. */
  byKey: ReadonlyMap<string, Spent>;
  byProject: ReadonlyMap<string, Spent>;
  all: Spent;
}

/** What every key, every project and all of them have spent, for budgets to start from when the gateway starts. */
export async function spentByOwner(storage: Storage, nowMs: number): Promise<SpentByOwner> {
  const now = new Date(nowMs);
  const monthStartMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const costs = await sumCostByKey(storage, nowMs - (nowMs % DAY_MS), monthStartMs);
  const byKey = new Map<string, Spent>();
  const byProject = new Map<string, Spent>();
  let all: Spent = { day: 0, month: 0, total: 0 };
  const makers = await selectMakers(storage);
  for (const cost of costs) {
    const maker = makers.get(cost.keyId);
    byKey.set(cost.keyId, plus(byKey.get(cost.keyId), cost));
    if (maker !== undefined) byKey.set(maker, plus(byKey.get(maker), cost));
    byProject.set(cost.project, plus(byProject.get(cost.project), cost));
    all = plus(all, cost);
  }
  return { byKey, byProject, all };
}

/**
 * What one process has booked for each key, of calls that began in the range: what a dead one has really spent of what it
 * held. It reads the ledger from `sinceMs` on.
 */
export async function spentByInstance(
  storage: Storage,
  { instance, sinceMs, untilMs = Number.MAX_SAFE_INTEGER }: { instance: string; sinceMs: number; untilMs?: number },
): Promise<ReadonlyMap<string, { project: string; costNanoUsd: number }>> {
  const costs = await sumCostOfInstance(storage, { instance, sinceMs, untilMs });
  return new Map(costs.map(({ keyId, ...spent }) => [keyId, spent]));
}

const plus = (sum: Spent | undefined, { day, month, total }: Spent): Spent => ({
  day: (sum?.day ?? 0) + day,
  month: (sum?.month ?? 0) + month,
  total: (sum?.total ?? 0) + total,
});
