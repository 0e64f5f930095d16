import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import { sampleReceipt } from "../receipts/receipt.sample.ts";
import type { Storage } from "../storage.ts";
import { changeCache, countCaches, selectCaches } from "./caches.ts";
import { deleteExpiredObjects, insertObject, type StoredObject, selectObjectCopies, selectObjects } from "./objects.ts";

const NOW = 1_700_000_000_000;

const sample = (id: string, expiresAtMs: number, changes: Partial<StoredObject> = {}): StoredObject => ({
  id: id.repeat(22),
  kind: "cache",
  project: "default",
  keyId: "key_1",
  share: "project",
  state: "creating",
  size: 0,
  metadata: { name: "a \u0000 é 漢 \ud800", tokens: 12.5, billables: [{ name: "x" }] },
  createdAtMs: NOW,
  expiresAtMs,
  ...changes,
});

/** Tests that every engine must pass. */
function cachesContract(databases: TestDatabases): void {
  describe(`decision 0110: caches on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("expired caches are listed, and the sweep of other objects does not delete them", async () => {
      await insertObject(storage, sample("b", NOW - 1));
      await insertObject(storage, sample("a", NOW + 1));
      await insertObject(storage, sample("c", NOW + 1, { project: "other" }));
      await insertObject(storage, sample("f", NOW - 1, { kind: "file" }));
      expect(await deleteExpiredObjects(storage, NOW, 10)).toBe(1);
      const first = await selectCaches(storage, undefined, 2);
      const rest = await selectCaches(storage, first.at(-1), 2);
      expect([...first, ...rest].map(({ id }) => id[0])).toEqual(["b", "a", "c"]);
      expect(await countCaches(storage, "default")).toBe(2);
    });

    test("a change and its receipt are stored once, whoever reads the cache at the same time", async () => {
      const before = sample("a", NOW + 1);
      await insertObject(storage, before);
      const read = (await selectObjects(storage, [before.id], NOW)).get(before.id) ?? before;
      const next = { state: "active", metadata: { tokens: 7 }, expiresAtMs: NOW + 5 };
      const copy = { credential: "digest", providerId: "cachedContents/abc" };
      const receipt = sampleReceipt({ id: "rcp_0000000001" });
      expect(await changeCache(storage, read, next, { copy, receipt })).toBe(true);
      expect(await changeCache(storage, read, undefined, { receipt: sampleReceipt({ id: "rcp_0000000002" }) })).toBe(
        false,
      );
      expect(await selectObjectCopies(storage, before.id, NOW)).toEqual([copy]);
      const [changed] = await selectCaches(storage, undefined, 2);
      expect(changed).toMatchObject(next);
      expect(await storage.query("SELECT id FROM receipts")).toEqual([{ id: "rcp_0000000001" }]);
      expect(changed && (await changeCache(storage, changed, undefined, {}))).toBe(true);
      expect(await selectCaches(storage, undefined, 2)).toEqual([]);
      expect(await selectObjectCopies(storage, before.id, NOW)).toEqual([]);
    });
  });
}

for (const databases of testDatabases("caches")) cachesContract(databases);
