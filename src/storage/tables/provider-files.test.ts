import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import { deleteObject, insertObject } from "./objects.ts";
import {
  claimLeftFiles,
  claimUpload,
  deleteExpiredProviderFiles,
  dropProviderFile,
  dropUpload,
  finishUpload,
  renewUpload,
  selectCopyProviders,
  selectProviderFile,
} from "./provider-files.ts";

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const ID = "AbCdEfGhIjKlMnOpQrStU1";
const PLACE = { objectId: ID, credential: "digest" };

const claim = (storage: Storage, uploadId: string, nowMs = NOW, neededUntilMs = 0) =>
  claimUpload(storage, { ...PLACE, provider: "p", uploadId, leaseUntilMs: nowMs + 1_000 }, { nowMs, neededUntilMs });
const finish = (storage: Storage, uploadId: string, expiresAtMs: number | "never" = NOW + HOUR) =>
  finishUpload(storage, {
    ...PLACE,
    uploadId,
    providerId: `file-of-${uploadId}`,
    expiresAtMs: expiresAtMs === "never" ? undefined : expiresAtMs,
  });
const left = (storage: Storage, nowMs = NOW) =>
  claimLeftFiles(storage, { owner: "sweeper", leaseUntilMs: nowMs + 1_000, nowMs, limit: 10 });

/** Tests that every engine must pass. */
function providerFilesContract(databases: TestDatabases): void {
  describe(`decision 0117: files at providers on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
      await insertObject(storage, {
        id: ID,
        kind: "file",
        project: "default",
        keyId: "key",
        share: "project",
        state: "uploaded",
        size: 1,
        metadata: {},
        createdAtMs: NOW,
        expiresAtMs: NOW + 2 * HOUR,
      });
    });
    afterEach(() => storage.close());

    test("one of many uploads a file, and what it finishes is found", async () => {
      const claims = await Promise.all(["a", "b", "c", "d"].map((id) => claim(storage, id)));
      expect(claims.filter((isClaimed) => isClaimed)).toHaveLength(1);
      const uploadId = ["a", "b", "c", "d"][claims.indexOf(true)] ?? "";
      expect(await selectCopyProviders(storage, [ID])).toEqual(new Map());
      expect(await finish(storage, uploadId)).toBe(true);
      expect(await claim(storage, "late")).toBe(false);
      expect(await selectProviderFile(storage, PLACE)).toMatchObject({ providerId: `file-of-${uploadId}` });
      expect(await selectCopyProviders(storage, [ID])).toEqual(new Map([[ID, ["p"]]]));
    });

    test("an upload whose lease has expired is taken over, and the first one has nothing to finish", async () => {
      expect(await claim(storage, "dead")).toBe(true);
      await renewUpload(storage, "dead", PLACE, NOW + 5_000);
      expect(await claim(storage, "next", NOW + 4_000)).toBe(false);
      expect(await claim(storage, "next", NOW + 6_000)).toBe(true);
      expect(await finish(storage, "dead")).toBe(false);
      await dropUpload(storage, "dead", PLACE);
      expect(await finish(storage, "next")).toBe(true);
    });

    test("a file that expires too early is uploaded again, and a missing one is forgotten by its id", async () => {
      expect(await claim(storage, "a")).toBe(true);
      await finish(storage, "a");
      expect(await claim(storage, "b", NOW, NOW + HOUR)).toBe(false);
      expect(await claim(storage, "b", NOW, NOW + HOUR + 1)).toBe(true);
      await finish(storage, "b", "never");
      expect(await claim(storage, "c", NOW, NOW + 9 * HOUR)).toBe(false);
      await dropProviderFile(storage, { ...PLACE, providerId: "file-of-a" });
      expect((await selectProviderFile(storage, PLACE))?.providerId).toBe("file-of-b");
      await dropProviderFile(storage, { ...PLACE, providerId: "file-of-b" });
      expect(await selectProviderFile(storage, PLACE)).toBeUndefined();
    });

    test("files that were deleted or have expired go to one sweeper", async () => {
      await claim(storage, "a");
      await finish(storage, "a");
      expect(await left(storage)).toEqual([]);
      expect(await left(storage, NOW + 3 * HOUR)).toHaveLength(1);
      expect(await left(storage, NOW + 3 * HOUR)).toEqual([]);
      expect(await left(storage, NOW + 3 * HOUR + 2_000)).toHaveLength(1);
      await deleteObject(storage, ID);
      const [file] = await left(storage, NOW + 4 * HOUR);
      expect(file).toMatchObject({ objectId: ID, providerId: "file-of-a", provider: "p" });
      await deleteExpiredProviderFiles(storage, NOW + 4 * HOUR);
      expect(await selectProviderFile(storage, PLACE)).toBeUndefined();
    });

    test("H21: an upload whose file is deleted during it is left to the sweeper", async () => {
      await claim(storage, "a");
      await deleteObject(storage, ID);
      expect(await left(storage)).toEqual([]);
      expect(await finish(storage, "a")).toBe(true);
      expect(await left(storage)).toMatchObject([{ providerId: "file-of-a" }]);
    });
  });
}

for (const databases of testDatabases("the contract of files at providers")) providerFilesContract(databases);
