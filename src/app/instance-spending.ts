import { readBudgetName, type SharedWindow } from "../access/shared-window.ts";
import type { SpentByInstance } from "../leases/leases.ts";
import { type InstanceSum, sumCostByInstance } from "../storage/receipts/instance-sums.ts";
import type { Storage } from "../storage/storage.ts";
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

/** The spending of each instance, from the receipts that it has written. */
export function instanceSpending({ storage, recover }: InstanceSpendingOptions): SpentByInstance {
  /** One query for all windows of the same period. */
  async function sums(windows: readonly string[], instances: readonly string[], startedMs = 0) {
    const found = new Map<string, Map<string, number>>();
    const makers = await selectMakers(storage);
    const budgets = windows.flatMap((name) => {
      const shared = readBudgetName(name);
      return shared === undefined ? [] : [{ name, shared }];
    });
    for (const group of Map.groupBy(budgets, ({ shared }) => `${shared.sinceMs} ${shared.untilMs}`).values()) {
      const { sinceMs, untilMs } = group[0]?.shared ?? { sinceMs: 0, untilMs: 0 };
      const rows = await sumCostByInstance(storage, {
        sinceMs: Math.max(sinceMs, startedMs),
        untilMs: Math.min(untilMs, Number.MAX_SAFE_INTEGER),
        instances,
      });
      for (const { name, shared } of group) found.set(name, sumOf(rows, shared, makers));
    }
    return found;
  }

  const sumOf = (rows: readonly InstanceSum[], shared: SharedWindow, makers: Makers): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const row of rows) {
      if (belongs(row, shared, makers)) sums.set(row.instance, (sums.get(row.instance) ?? 0) + row.costNanoUsd);
    }
    return sums;
  };

  const belongs = ({ keyId, project }: InstanceSum, { level, id }: SharedWindow, makers: Makers): boolean => {
    if (level === "gateway") return true;
    return level === "project" ? project === id : keyId === id || makers.get(keyId) === id;
  };

  return {
    ofWindows: async (windows) => {
      const instances = (await selectInstances(storage)).map(({ id }) => id);
      const found = await sums(windows, instances);
      return new Map([...found].map(([name, spent]) => [name, Object.fromEntries(spent)]));
    },
    ofDead: async (instance, windows) => {
      await recover();
      const found = await sums(windows, [instance], startOf(instance));
      return new Map([...found].map(([name, spent]) => [name, spent.get(instance) ?? 0]));
    },
  };
}
