import type { TimeZone } from "../base/time-zone.ts";
import type { Receipt } from "../canon/receipt.ts";
import { sumUsage, type Usage } from "../canon/usage.ts";
import { selectReceipt } from "../storage/receipts/receipts.ts";
import {
  isOfEndUsers,
  type UsageDimension,
  type UsageFilter,
  type UsageQuestion,
} from "../storage/receipts/usage-question.ts";
import { readUsageReport, type UsageSum } from "../storage/receipts/usage-report.ts";
import { sumCostByKey, type WindowStarts, type WindowSums } from "../storage/receipts/usage-sums.ts";
import { sumTops, type TopSum } from "../storage/receipts/usage-tops.ts";
import type { Storage } from "../storage/storage.ts";
import { selectIntent } from "../storage/tables/intents.ts";
import { selectMakers } from "../storage/tables/keys.ts";
import { receiptsKeptSince } from "./retention.ts";
import { usageSources } from "./usage-sources.ts";

/** The most groups of a report: the earliest if they are times, otherwise the most expensive. */
export const MAX_GROUPS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The receipt if it belongs to the project; another project's receipt looks as if it did not exist (S09). */
export async function findReceipt(storage: Storage, project: string, id: string): Promise<Receipt | undefined> {
  const receipt = (await selectReceipt(storage, project, id)) ?? (await selectIntent(storage, id));
  return receipt?.project === project ? receipt : undefined;
}

export interface UsageRange extends UsageFilter {
  /** Empty: the sum of all calls. */
  by: readonly UsageDimension[];
  sinceMs: number;
  /** Exclusive. */
  untilMs: number;
  /** The zone of the days; default: UTC. */
  zone?: TimeZone;
}

/** The hours of the last days, including the current one. */
export function lastDays(days: number, nowMs: number): { sinceMs: number; untilMs: number } {
  const hour = Math.floor(nowMs / HOUR_MS);
  return { sinceMs: Math.floor(nowMs / HOUR_MS - days * 24) * HOUR_MS, untilMs: (hour + 1) * HOUR_MS };
}

/**
 * Calls, counters, cost and failures by group. Days are named as `2026-01-31`, hours as `2026-01-31T23:00Z`; both come in
 * order, all other groups by cost, highest first.
 */
export async function summariseUsage(storage: Storage, range: UsageRange): Promise<UsageSum[]> {
  const { by } = range;
  const sums = await readUsageReport(storage, { ...(await questionOf(storage, range)), limit: MAX_GROUPS });
  const names = by.map((dimension) => namesOf(dimension));
  for (const sum of sums) sum.groups = sum.groups.map((group, index) => names[index]?.(group) ?? group);
  return sums;
}

/** The most expensive groups of each dimension, at most `limit`. */
export async function topUsage(storage: Storage, range: UsageRange, limit: number): Promise<TopSum[]> {
  return sumTops(storage, { ...(await questionOf(storage, range)), limit });
}

async function questionOf(storage: Storage, range: UsageRange): Promise<UsageQuestion> {
  const { by, sinceMs, untilMs, zone, ...filter } = range;
  const ofZone = by.includes("day") && zone !== undefined && zone.name !== "UTC" ? zone : undefined;
  const sources = usageSources({
    sinceMs,
    untilMs,
    byHour: by.includes("hour"),
    zone: ofZone,
    keptSinceMs: await receiptsKeptSince(storage),
  });
  if (isOfEndUsers({ ...filter, by }) && untilMs > sinceMs) {
    const receipts = { days: [], hours: [], receipts: [[sinceMs, untilMs] as const] };
    return { ...filter, by, sources: receipts, offsets: ofZone?.offsets(sinceMs, untilMs) ?? [] };
  }
  return { ...filter, by, sources, offsets: ofZone?.offsets(sinceMs, untilMs) ?? [] };
}

export type UsageTotal = Pick<UsageSum, "calls" | "failures" | "usage" | "costNanoUsd">;

/** Whether a call may be in several groups, or in none: then the groups do not add up to the total. */
export const groupsOverlap = (by: readonly UsageDimension[]): boolean => by.includes("tag") || by.includes("end_user");

/** All matching calls, each counted once. `sums`: their groups. */
export async function totalUsage(
  storage: Storage,
  range: UsageRange,
  sums: readonly UsageTotal[],
): Promise<UsageTotal> {
  const isAll = !groupsOverlap(range.by) && sums.length < MAX_GROUPS;
  const parts = isAll ? sums : await summariseUsage(storage, { ...range, by: [] });
  const of = (amount: (part: UsageTotal) => number) => parts.reduce((sum, part) => sum + amount(part), 0);
  return {
    calls: of(({ calls }) => calls),
    failures: of(({ failures }) => failures),
    usage: parts.reduce<Usage>((sum, { usage }) => sumUsage(sum, usage), {}),
    costNanoUsd: of(({ costNanoUsd }) => costNanoUsd),
  };
}

/** Many groups share few times, so each time is formatted once. */
function namesOf(dimension: UsageDimension): (group: string) => string {
  const known = new Map<string, string>();
  return (group) => {
    const name = known.get(group) ?? nameOf(group, dimension);
    known.set(group, name);
    return name;
  };
}

function nameOf(group: string, dimension: UsageDimension): string {
  if (dimension === "day") return new Date(Number(group) * DAY_MS).toISOString().slice(0, 10);
  if (dimension === "hour") return `${new Date(Number(group) * HOUR_MS).toISOString().slice(0, 16)}Z`;
  return group;
}

/** Nano-dollars since the start of the UTC day, week, month and quarter, and in total; and the day's calls and tokens. */
export type Spent = WindowSums;

export interface SpentByOwner {
  /** The spending of child keys is part of their parent's. */
  byKey: ReadonlyMap<string, Spent>;
  byProject: ReadonlyMap<string, Spent>;
  all: Spent;
}

/** The use of one key in one project, for one model or tag. */
export interface PartSpent extends Spent {
  project: string;
  keyId: string;
  part: string;
}

/** The use of every key by model, or by the tags that match one of the patterns. */
export const spentByPart = (
  storage: Storage,
  nowMs: number,
  part: "model" | { tagsLike: readonly string[] },
): Promise<PartSpent[]> => sumCostByKey(storage, windowStarts(nowMs), part);

/** The spending of every key, every project and all of them, as the initial state of budgets. */
export async function spentByOwner(storage: Storage, nowMs: number): Promise<SpentByOwner> {
  const costs = await sumCostByKey(storage, windowStarts(nowMs));
  const byKey = new Map<string, Spent>();
  const byProject = new Map<string, Spent>();
  let all: Spent = NOTHING_SPENT;
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

/** The money of it, for display. */
export type SpentMoney = Pick<Spent, "day" | "week" | "month" | "quarter" | "total">;

export const moneyOf = ({ day, week, month, quarter, total }: SpentMoney = NOTHING_SPENT): SpentMoney => ({
  day,
  week,
  month,
  quarter,
  total,
});

/** The same in US dollars. */
export const dollarsOf = ({ day, week, month, quarter, total }: SpentMoney): SpentMoney => ({
  day: day / 1e9,
  week: week / 1e9,
  month: month / 1e9,
  quarter: quarter / 1e9,
  total: total / 1e9,
});

export const NOTHING_SPENT: Spent = { day: 0, week: 0, month: 0, quarter: 0, total: 0, requests: 0, tokens: 0 };

export const plus = (sum: Spent = NOTHING_SPENT, more: Spent): Spent => ({
  day: sum.day + more.day,
  week: sum.week + more.week,
  month: sum.month + more.month,
  quarter: sum.quarter + more.quarter,
  total: sum.total + more.total,
  requests: sum.requests + more.requests,
  tokens: sum.tokens + more.tokens,
});

const DAYS_PER_WEEK = 7;
/** The first of January 1970 was a Thursday: weeks begin on Monday. */
const DAYS_SINCE_MONDAY = 3;

/** When the windows of that moment began. */
export function windowStarts(nowMs: number): WindowStarts {
  const now = new Date(nowMs);
  const dayMs = nowMs - (nowMs % DAY_MS);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return {
    dayMs,
    weekMs: dayMs - ((dayMs / DAY_MS + DAYS_SINCE_MONDAY) % DAYS_PER_WEEK) * DAY_MS,
    monthMs: Date.UTC(year, month),
    quarterMs: Date.UTC(year, month - (month % 3)),
  };
}
