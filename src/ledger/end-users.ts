import type { Storage } from "../storage/storage.ts";
import {
  type EndUserFilter,
  type EndUserSums,
  type StoredEndUserLimits,
  selectEndUserLimits,
  selectEndUsers,
  sumEndUsers,
} from "../storage/tables/end-users.ts";
import { NOTHING_SPENT, plus, type Spent, windowStarts } from "./queries.ts";

/** What an end user has used, with each key, and its own limits. */
export interface EndUserReport {
  id: string;
  spent: Spent;
  lastAtMs: number | undefined;
  keys: readonly EndUserSums[];
  limits: readonly StoredEndUserLimits[];
}

const DAY_MS = 86_400_000;
/** No process has this name. */
const NOBODY = "";

/** Known end users in the order of their ids. */
export async function listEndUsers(
  storage: Storage,
  filter: EndUserFilter,
  nowMs: number,
): Promise<{ data: EndUserReport[]; next: string | undefined }> {
  const found = await selectEndUsers(storage, { ...filter, limit: filter.limit + 1 });
  const ids = found.slice(0, filter.limit);
  const data = await reportEndUsers(storage, ids, filter, nowMs);
  return { data, next: found.length > filter.limit ? ids.at(-1) : undefined };
}

/** These end users, as far as they belong to the project and the key. */
export async function reportEndUsers(
  storage: Storage,
  ids: readonly string[],
  { project, key }: Pick<EndUserFilter, "project" | "key">,
  nowMs: number,
): Promise<EndUserReport[]> {
  const { dayMs, weekMs, monthMs, quarterMs } = windowStarts(nowMs);
  const days = { day: dayMs / DAY_MS, week: weekMs / DAY_MS, month: monthMs / DAY_MS, quarter: quarterMs / DAY_MS };
  const sums = (await sumEndUsers(storage, ids, days, NOBODY)).filter(
    (sum) => (project === undefined || sum.project === project) && (key === undefined || sum.keyId === key),
  );
  const limits = await selectEndUserLimits(storage, ids);
  return ids.map((id) => {
    const keys = withoutOwn(sums.filter(({ endUser }) => endUser === id));
    const last = Math.max(0, ...keys.map(({ lastAtMs }) => lastAtMs));
    return {
      id,
      spent: keys.reduce(plus, NOTHING_SPENT),
      lastAtMs: last === 0 ? undefined : last,
      keys,
      limits: limits.filter(({ endUser, limits: set }) => endUser === id && set !== undefined),
    };
  });
}

/** Rows without a writer are summed apart. */
function withoutOwn(sums: readonly EndUserSums[]): EndUserSums[] {
  const byKey = new Map<string, EndUserSums>();
  for (const sum of sums) {
    const name = `${sum.project}\n${sum.keyId}`;
    const known = byKey.get(name);
    const lastAtMs = Math.max(known?.lastAtMs ?? 0, sum.lastAtMs);
    byKey.set(name, { ...sum, ...plus(known, sum), lastAtMs });
  }
  return [...byKey.values()];
}
