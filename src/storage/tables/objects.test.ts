import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import {
  deleteExpiredObjects,
  deleteObject,
  insertObject,
  insertObjectWithin,
  type StoredObject,
  selectObjectCopies,
  selectObjectPage,
  selectObjects,
  sumObjects,
  writeObjectCopy,
} from "./objects.ts";
import { insertProject } from "./projects.ts";

const NOW = 1_700_000_000_000;

const sample = (changes: Partial<StoredObject> = {}): StoredObject => ({
  id: "AbCdEfGhIjKlMnOpQrStU1",
  kind: "file",
  project: "default",
  keyId: "key_1",
  share: "project",
  state: "uploaded",
  size: 5_000_000_000,
  metadata: { filename: "a \u0000 é 漢.pdf", purpose: "user_data" },
  createdAtMs: NOW,
  expiresAtMs: NOW + 1_000,
  ...changes,
});

/** Tests that every engine must pass. */
function objectsContract(databases: TestDatabases): void {
  describe(`objects on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("an object is read back unchanged, with and without an expiry", async () => {
      const { expiresAtMs, ...endless } = sample({ id: "e".repeat(22), share: "private" });
      await insertObject(storage, sample());
      await insertObject(storage, endless);
      const found = await selectObjects(storage, [sample().id, endless.id, "x".repeat(22)], NOW);
      expect([...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([sample(), endless]);
      await expect(insertObject(storage, sample())).rejects.toThrow();
    });

    test("ids are case-sensitive", async () => {
      await insertObject(storage, sample());
      expect((await selectObjects(storage, [sample().id.toLowerCase()], NOW)).size).toBe(0);
    });

    test("many ids are looked up at once", async () => {
      await insertObject(storage, sample());
      const ids = Array.from({ length: 1_200 }, (_, index) => `x${index}`);
      expect([...(await selectObjects(storage, [...ids, sample().id], NOW)).keys()]).toEqual([sample().id]);
      expect((await selectObjects(storage, [], NOW)).size).toBe(0);
    });

    test("an object expires, and the sweep removes it with its copies, in batches", async () => {
      for (let n = 0; n < 3; n++) await insertObject(storage, sample({ id: `old${n}`, expiresAtMs: NOW - n }));
      await insertObject(storage, sample());
      await writeObjectCopy(storage, "old0", { credential: "one", providerId: "file-abc" });
      expect((await selectObjects(storage, ["old0"], NOW)).size).toBe(0);
      expect((await selectObjects(storage, ["old0"], NOW - 1)).size).toBe(1);
      expect(await deleteExpiredObjects(storage, NOW, 2)).toBe(2);
      expect(await deleteExpiredObjects(storage, NOW, 2)).toBe(1);
      expect(await deleteExpiredObjects(storage, NOW, 2)).toBe(0);
      expect((await selectObjects(storage, [sample().id], NOW)).size).toBe(1);
      expect(await selectObjectCopies(storage, "old0", 0)).toEqual([]);
    });

    test("each credential has its own id of an object; a later one replaces an earlier one", async () => {
      await insertObject(storage, sample());
      await writeObjectCopy(storage, sample().id, { credential: "one", providerId: "file-a", expiresAtMs: NOW + 10 });
      await writeObjectCopy(storage, sample().id, { credential: "two", providerId: "file-b" });
      expect(await selectObjectCopies(storage, sample().id, NOW)).toEqual([
        { credential: "one", providerId: "file-a", expiresAtMs: NOW + 10 },
        { credential: "two", providerId: "file-b" },
      ]);
      await writeObjectCopy(storage, sample().id, { credential: "one", providerId: "file-c", expiresAtMs: NOW + 20 });
      expect((await selectObjectCopies(storage, sample().id, NOW + 15))[0]?.providerId).toBe("file-c");
      expect(await selectObjectCopies(storage, sample().id, NOW + 20)).toEqual([
        { credential: "two", providerId: "file-b" },
      ]);
      await expect(writeObjectCopy(storage, "none", { credential: "one", providerId: "x" })).rejects.toThrow();
    });

    test("decision 0112: objects are counted by kind and state, and listed by state and id", async () => {
      await insertObject(storage, sample({ id: "a", size: 10 }));
      await insertObject(storage, sample({ id: "b", size: 20 }));
      await insertObject(storage, sample({ id: "c", kind: "batch", state: "failed", size: 5 }));
      expect((await sumObjects(storage)).toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual([
        { kind: "batch", state: "failed", count: 1, bytes: 5 },
        { kind: "file", state: "uploaded", count: 2, bytes: 30 },
      ]);
      const ids = async (filter: Parameters<typeof selectObjectPage>[1]) =>
        (await selectObjectPage(storage, filter, { limit: 10 }, NOW)).map(({ id }) => id);
      expect(await ids({ state: "failed" })).toEqual(["c"]);
      expect(await ids({ id: "b", kind: "file" })).toEqual(["b"]);
      expect(await ids({ id: "b", project: "other" })).toEqual([]);
    });

    test("decision 0112: a project's own share replaces the usual one", async () => {
      await insertProject(storage, { id: "red", createdAtMs: NOW, projectMb: 1 });
      const add = (id: string, project: string, size: number) =>
        insertObjectWithin(storage, sample({ id, project, size }), [], 100);
      expect(await add("a", "red", 1_000_000)).toBeUndefined();
      expect(await add("b", "red", 1_000_000)).toEqual({ maxBytes: 1024 ** 2 });
      expect(await add("c", "blue", 100)).toBeUndefined();
      expect(await add("d", "blue", 1)).toEqual({ maxBytes: 100 });
    });

    test("deleting an object deletes its copies", async () => {
      await insertObject(storage, sample());
      await writeObjectCopy(storage, sample().id, { credential: "one", providerId: "file-a" });
      expect(await deleteObject(storage, sample().id)).toBe(true);
      expect(await deleteObject(storage, sample().id)).toBe(false);
      expect(await selectObjectCopies(storage, sample().id, NOW)).toEqual([]);
    });
  });
}

for (const databases of testDatabases("the contract of objects")) objectsContract(databases);
