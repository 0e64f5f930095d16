import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import { insertLiveSecret, selectLiveSecret } from "./live-secrets.ts";

const NOW = 1_700_000_000_000;
const secret = (hash: string, expiresAtMs = NOW + 60_000) => {
  return { hash, keyId: "key_1", model: "test/realtime", session: "c2VhbGVk", expiresAtMs };
};

/** Tests that every engine must pass. */
function liveSecretsContract(databases: TestDatabases): void {
  describe(`decision 0116: client secrets on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test("a secret is found until it expires, and the next one deletes it afterwards", async () => {
      const bounds = { nowMs: NOW, most: 10 };
      expect(await insertLiveSecret(storage, secret("one"), bounds)).toBe(true);
      expect(await selectLiveSecret(storage, "one", NOW)).toEqual(secret("one"));
      expect(await selectLiveSecret(storage, "one", NOW + 60_000)).toBeUndefined();
      expect(await selectLiveSecret(storage, "two", NOW)).toBeUndefined();
      await insertLiveSecret(storage, secret("two", NOW + 120_000), { ...bounds, nowMs: NOW + 60_000 });
      expect(await storage.query("SELECT hash FROM live_secrets")).toHaveLength(1);
    });

    test("a key has a limited number of valid ones", async () => {
      const bounds = { nowMs: NOW, most: 1 };
      expect(await insertLiveSecret(storage, secret("one"), bounds)).toBe(true);
      expect(await insertLiveSecret(storage, secret("two"), bounds)).toBe(false);
      expect(await insertLiveSecret(storage, { ...secret("three"), keyId: "key_2" }, bounds)).toBe(true);
    });
  });
}

for (const databases of testDatabases("client secrets")) liveSecretsContract(databases);
