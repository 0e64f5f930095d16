import { measureOf } from "../access/budget.ts";
import { readPartId, type WholeLevelName } from "../access/level.ts";
import { matches } from "../access/model-glob.ts";
import { readBudgetName, type SharedWindow } from "../access/shared-window.ts";
import type { SpentByInstance } from "../leases/leases.ts";
import { hasUsage } from "../storage/receipts/has-usage.ts";
import { type InstanceSum, sumCostByInstance } from "../storage/receipts/instance-sums.ts";
import type { Storage } from "../storage/storage.ts";
import { sumEndUsersByInstance } from "../storage/tables/end-users.ts";
import { selectInstances } from "../storage/tables/instances.ts";
import { selectMakers } from "../storage/tables/keys.ts";
import { startOf } from "./instance-id.ts";

interface InstanceSpendingOptions {
  storage: Storage;
  /** Moves the receipts of dead processes into the ledger. */
  recover: () => Promise<void>;
}

/** Maps each key to the key that created it, whose limits its calls also count against. */
type Makers = ReadonlyMap<string, string>;

interface Budget {
  name: string;
  shared: SharedWindow;
}

const DAY_MS = 86_400_000;
/** What the sums of these levels are apart for. */
const PARTS: Readonly<Partial<Record<SharedWindow["level"], "model" | "tags">>> = { model: "model", tag: "tags" };

const namesOf = (group: readonly Budget[]): string[] => [
  ...new Set(group.map(({ shared }) => readPartId(shared.id)?.name ?? "")),
];

/** The spending of each instance, from the receipts that it has written. */
export function instanceSpending({ storage, recover }: InstanceSpendingOptions): SpentByInstance {
  /** One query for all windows of the same period and kind, all at once: calls may wait for them. */
  async function sums(windows: readonly string[], one?: string) {
    const found = new Map<string, Map<string, number>>();
    const [makers, known] = await Promise.all([selectMakers(storage), one ? [] : selectInstances(storage)]);
    const instances = one ? [one] : known.map(({ id }) => id);
    const startedMs = Math.min(...instances.map(startOf), Number.MAX_SAFE_INTEGER);
    const budgets = windows.flatMap((name) => {
      const shared = readBudgetName(name);
      return shared === undefined ? [] : [{ name, shared }];
    });
    const groupOf = ({ shared }: Budget) =>
      `${shared.sinceMs} ${shared.untilMs} ${PARTS[shared.level] ?? shared.level === "end_user"}`;
    const add = async (group: readonly Budget[]): Promise<void> => {
      const { sinceMs, untilMs, level } = group[0]?.shared ?? { sinceMs: 0, untilMs: 0, level: "gateway" };
      if (level === "end_user") await addEndUsers(group, found, makers, instances);
      else if (PARTS[level] === undefined && !(await haveSpent(group, makers))) {
        for (const { name } of group) found.set(name, new Map());
      } else {
        const rows = await sumCostByInstance(storage, {
          sinceMs,
          untilMs: Math.min(untilMs, Number.MAX_SAFE_INTEGER),
          instances,
          startedMs,
          withOthers: one === undefined,
          by: PARTS[level] === "tags" ? { tagsLike: namesOf(group) } : PARTS[level],
        });
        for (const { name, shared } of group) found.set(name, sumOf(rows, shared, makers));
      }
    };
    await Promise.all([...Map.groupBy(budgets, groupOf).values()].map(add));
    return found;
  }

  /** Whether any of them has spent anything. Most budgets that are asked for are new. */
  async function haveSpent(group: readonly Budget[], makers: Makers): Promise<boolean> {
    const { sinceMs, untilMs } = group[0]?.shared ?? { sinceMs: 0, untilMs: 0 };
    const idsOf = (wanted: SharedWindow["level"]) =>
      new Set(group.filter(({ shared: { level } }) => level === wanted).map(({ shared: { id } }) => id));
    const keys = idsOf("key");
    const made = [...makers].filter(([, maker]) => keys.has(maker)).map(([id]) => id);
    const names = { keys: [...keys, ...made], projects: [...idsOf("project")] };
    return hasUsage(storage, {
      sinceMs,
      untilMs: Math.min(untilMs, Number.MAX_SAFE_INTEGER),
      names: idsOf("gateway").size > 0 ? undefined : names,
    });
  }

  /** Their sums by day also name the process that wrote them. */
  async function addEndUsers(
    group: readonly Budget[],
    found: Map<string, Map<string, number>>,
    makers: Makers,
    instances: readonly string[],
  ): Promise<void> {
    const users = namesOf(group);
    const { sinceMs = 0, untilMs = 0 } = group[0]?.shared ?? {};
    const days = { fromDay: sinceMs / DAY_MS, untilDay: Math.min(untilMs / DAY_MS, Number.MAX_SAFE_INTEGER) };
    const rows = await sumEndUsersByInstance(storage, users, days);
    const known = new Set(instances);
    const named = rows.map(({ endUser, instance, ...row }) => ({
      ...row,
      instance: known.has(instance) ? instance : "",
      endUser,
      model: "",
      tags: [],
    }));
    const byUser = Map.groupBy(named, ({ endUser }) => endUser);
    for (const { name, shared } of group) {
      const ofUser = byUser.get(readPartId(shared.id)?.name ?? "") ?? [];
      found.set(name, sumOf(ofUser, shared, makers));
    }
  }

  const sumOf = (rows: readonly InstanceSum[], shared: SharedWindow, makers: Makers): Map<string, number> => {
    const sums = new Map<string, number>();
    const measure = measureOf(shared.limit);
    for (const row of rows) {
      if (!belongs(row, shared, makers)) continue;
      const amount = measure === "requests" ? row.calls : measure === "tokens" ? row.tokens : row.costNanoUsd;
      sums.set(row.instance, (sums.get(row.instance) ?? 0) + amount);
    }
    return sums;
  };

  const belongs = (row: InstanceSum, { level, id }: SharedWindow, makers: Makers): boolean => {
    if (level === "key" || level === "project" || level === "gateway") return isWithin(row, level, id, makers);
    const part = readPartId(id);
    if (part === undefined || !isWithin(row, part.level, part.id, makers)) return false;
    if (level === "end_user") return true;
    if (level === "model") return matches(part.name, row.model);
    return row.tags.some((tag) => matches(part.name, tag));
  };

  const isWithin = ({ keyId, project }: InstanceSum, level: WholeLevelName, id: string, makers: Makers): boolean => {
    if (level === "gateway") return true;
    return level === "project" ? project === id : keyId === id || makers.get(keyId) === id;
  };

  return {
    ofWindows: async (windows) => {
      const found = await sums(windows);
      return new Map([...found].map(([name, spent]) => [name, Object.fromEntries(spent)]));
    },
    ofDead: async (instance, windows) => {
      await recover();
      const found = await sums(windows, instance);
      return new Map([...found].map(([name, spent]) => [name, spent.get(instance) ?? 0]));
    },
  };
}
