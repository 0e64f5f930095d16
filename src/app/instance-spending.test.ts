import { afterAll, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { testDatabases } from "../../testing/test-databases.ts";
import { partId } from "../access/level.ts";
import { windowAt, windowName } from "../access/shared-window.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import { deleteOldReceipts } from "../ledger/retention.ts";
import { rollUpBefore } from "../ledger/roll-up-before.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import { beat, deleteInstance } from "../storage/tables/instances.ts";
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

for (const databases of testDatabases("spending of instances")) {
  afterAll(() => databases.clear());

  test(`H44: what budgets have spent does not depend on receipts that retention deletes (${databases.engine})`, async () => {
    const nowMs = Date.UTC(2026, 5, 20);
    const clock = { ...system.clock, wallMs: () => nowMs };
    const storage = await openStorage(await databases.withTables(), clock);
    const beatOf = (id: string) => beat(storage, { id, place: "here", process: "", startedAtMs: 1, shares: "redis" });
    await beatOf("instance_runs");
    await beatOf("instance_stops");
    const days = [1, 2, 19];
    const instances = ["instance_runs", "instance_stops", "instance_gone"];
    const receipts = days.flatMap((day, at) =>
      instances.map((instance, which) =>
        sampleReceipt({
          id: `rcp_${timePrefix(Date.UTC(2026, 5, day))}${which}`,
          createdAtMs: Date.UTC(2026, 5, day),
          costNanoUsd: 10 ** (2 * which) * (at + 1),
          key: "key_1",
          model: "acme/a",
          tags: ["red", "team-a"],
          instance,
        }),
      ),
    );
    await insertReceipts(storage, receipts);
    const names = (
      [
        { level: "key", id: "key_1" },
        { level: "gateway", id: "gateway" },
        { level: "model", id: partId({ level: "key", id: "key_1" }, "acme/*") },
        { level: "tag", id: partId({ level: "key", id: "key_1" }, "red") },
      ] as const
    ).flatMap((account) =>
      (["budgetUsdTotal", "budgetUsdPerMonth", "budgetUsdPerDay"] as const).map((limit) =>
        windowName(windowAt(account, limit, Date.UTC(2026, 5, 19))),
      ),
    );
    const { ofWindows, ofDead } = instanceSpending({ storage, recover: async () => {} });
    const all = { "": 60_000, instance_runs: 6, instance_stops: 600 };
    const lastDay = { "": 30_000, instance_runs: 3, instance_stops: 300 };
    const expected = Object.fromEntries(names.map((name) => [name, name.includes("_day") ? lastDay : all]));
    expect(Object.fromEntries(await ofWindows(names))).toEqual(expected);
    expect(await deleteOldReceipts({ storage, clock, retentionDays: 2 })).toBe(6);
    expect(Object.fromEntries(await ofWindows(names))).toEqual(expected);
    const ofStopped = Object.fromEntries(names.map((name) => [name, name.includes("_day") ? 300 : 600]));
    expect(Object.fromEntries(await ofDead("instance_stops", names))).toEqual(ofStopped);
    // It has stopped: the sums know what it has spent, as that of others.
    await deleteInstance(storage, "instance_stops");
    await deleteOldReceipts({ storage, clock, retentionDays: 2 });
    const { "": others, instance_runs } = (await ofWindows(names)).get(names[0] ?? "") ?? {};
    expect([others, instance_runs]).toEqual([60_600, 6]);
    await storage.close();
  });
}
