import type { EndUserRef, EndUserStore, LoadedEndUser } from "../../access/parts/end-users.ts";
import { NOTHING_SPENT, plus, type Spent, windowStarts } from "../../ledger/queries.ts";
import type { Storage } from "../../storage/storage.ts";
import {
  type OwnEndUserSums,
  type StoredEndUserLimits,
  selectEndUserLimits,
  sumEndUsers,
} from "../../storage/tables/end-users.ts";

interface StoredEndUsersOptions {
  storage: Storage;
  instance: string;
  makerOf: (keyId: string) => string | undefined;
  oldestMs: () => number;
}

const DAY_MS = 86_400_000;

/** The state of end users in the storage: their sums by day, and their own limits. */
export function storedEndUsers({ storage, instance, makerOf, oldestMs }: StoredEndUsersOptions): EndUserStore {
  const isOf = (ref: EndUserRef, { endUser, project, keyId }: OwnEndUserSums): boolean => {
    if (endUser !== ref.user) return false;
    if (ref.level === "gateway") return true;
    return ref.level === "project" ? project === ref.id : keyId === ref.id || makerOf(keyId) === ref.id;
  };

  const loaded = (
    ref: EndUserRef,
    sums: readonly OwnEndUserSums[],
    limits: readonly StoredEndUserLimits[],
  ): LoadedEndUser => {
    let spent: Spent = NOTHING_SPENT;
    let own: Spent = NOTHING_SPENT;
    for (const sum of sums) {
      if (!isOf(ref, sum)) continue;
      spent = plus(spent, sum);
      if (sum.isOwn) own = plus(own, sum);
    }
    const set = limits.find(({ level, owner }) => level === ref.level && owner === ref.id);
    return { spent, own, limits: set?.limits };
  };

  return {
    oldestMs,
    read: async (wanted, asOfMs) => {
      const users = [...new Set(wanted.map(({ user }) => user))];
      const { dayMs, weekMs, monthMs, quarterMs } = windowStarts(asOfMs);
      const days = { day: dayMs / DAY_MS, week: weekMs / DAY_MS, month: monthMs / DAY_MS, quarter: quarterMs / DAY_MS };
      const [sums, limits] = await Promise.all([
        sumEndUsers(storage, users, days, instance),
        selectEndUserLimits(storage, users),
      ]);
      const sumsOf = Map.groupBy(sums, ({ endUser }) => endUser);
      const limitsOf = Map.groupBy(limits, ({ endUser }) => endUser);
      return wanted.map((ref) => loaded(ref, sumsOf.get(ref.user) ?? [], limitsOf.get(ref.user) ?? []));
    },
  };
}
