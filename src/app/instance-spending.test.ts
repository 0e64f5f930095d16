import { expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { windowAt, windowName } from "../access/shared-window.ts";
import { system } from "../base/system.ts";
import { rollUpBefore } from "../ledger/roll-up-before.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import { beat } from "../storage/tables/instances.ts";
import { insertKey } from "../storage/tables/keys.ts";
import { instanceSpending } from "./instance-spending.ts";

test("S05: the spending of a key counts for the key that created it, its project and the gateway", async () => {
  const storage = await openMemoryStorage(system.clock);
  const key = { name: "k", project: "default", hint: "", models: ["*"], limits: {}, createdAtMs: 1 };
  await insertKey(storage, { ...key, id: "maker", hash: "1" });
  await insertKey(storage, { ...key, id: "child", hash: "2", madeBy: "maker" });
  await beat(storage, { id: "instance_a", place: "here", process: "", startedAtMs: 1, shares: "redis" });
  const atMs = Date.UTC(2026, 5, 15);
  await insertReceipts(storage, [
    sampleReceipt({ id: "rcp_~1", createdAtMs: atMs, costNanoUsd: 1, key: "child", instance: "instance_a" }),
    sampleReceipt({ id: "rcp_~2", createdAtMs: atMs, costNanoUsd: 10, key: "maker", instance: "instance_a" }),
    sampleReceipt({ id: "rcp_~3", createdAtMs: atMs, costNanoUsd: 100, key: "other", instance: "instance_a" }),
  ]);
  const names = (
    [
      { level: "key", id: "maker" },
      { level: "key", id: "child" },
      { level: "project", id: "default" },
      { level: "gateway", id: "gateway" },
    ] as const
  ).map((account) => windowName(windowAt(account, "budgetUsdTotal", atMs)));
  const spent = await instanceSpending({ storage, recover: async () => {} }).ofWindows(names);
  expect(names.map((name) => spent.get(name)?.["instance_a"])).toEqual([11, 1, 111, 111]);
  await storage.close();
});

test("new budgets are not looked for in receipts, of which there may be millions", async () => {
  const storage = await openMemoryStorage(system.clock);
  const atMs = Date.UTC(2026, 5, 15);
  await insertReceipts(storage, [sampleReceipt({ id: "rcp_~1", createdAtMs: atMs, key: "old", project: "one" })]);
  const asked: string[] = [];
  const watched = Object.create(storage) as typeof storage;
  watched.query = (text, ...rest) => {
    asked.push(text);
    return storage.query(text, ...rest);
  };
  const { ofWindows } = instanceSpending({ storage: watched, recover: async () => {} });
  const spentOf = async (level: "key" | "project" | "gateway", id: string) => {
    asked.length = 0;
    const name = windowName(windowAt({ level, id }, "budgetUsdPerMonth", atMs));
    const spent = (await ofWindows([name])).get(name);
    return { spent, sumsReceipts: asked.some((text) => text.includes("GROUP BY writer")) };
  };
  // Before and after it is in the sums.
  for (let time = 0; time < 2; time++) {
    expect(await spentOf("key", "new")).toEqual({ spent: {}, sumsReceipts: false });
    expect(await spentOf("project", "two")).toEqual({ spent: {}, sumsReceipts: false });
    for (const [level, id] of [
      ["key", "old"],
      ["project", "one"],
      ["gateway", "gateway"],
    ] as const) {
      const { spent, sumsReceipts } = await spentOf(level, id);
      expect({ level, spent: spent?.[""], sumsReceipts }).toEqual({
        level,
        spent: sampleReceipt({}).costNanoUsd,
        sumsReceipts: true,
      });
    }
    await rollUpBefore(storage, Date.UTC(2027, 0));
  }
  await storage.close();
});
