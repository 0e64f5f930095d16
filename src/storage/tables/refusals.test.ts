import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../../testing/test-databases.ts";
import { system } from "../../base/system.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import { deleteRefusalsBefore, type RefusalRow, sumRefusals, writeRefusals } from "./refusals.ts";

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 4, 1);
const row = (changes: Partial<RefusalRow> = {}): RefusalRow => ({
  minute: START_MS / 60_000,
  reason: "unauthenticated",
  project: "",
  keyId: "",
  addressClass: "public",
  address: "203.0.113.7",
  requests: 1,
  ...changes,
});

function refusalsContract(databases: TestDatabases): void {
  describe(`refused requests on ${databases.engine}`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());
    const all = { fromMs: START_MS, toMs: START_MS + 24 * HOUR_MS };

    test("each instance replaces its own counts, and sums include all instances", async () => {
      const many = Array.from({ length: 120 }, (_, index) => row({ address: `203.0.113.${index}` }));
      await writeRefusals(storage, "a", many);
      await writeRefusals(storage, "a", [row({ address: "203.0.113.1", requests: 5 })]);
      await writeRefusals(storage, "a", [row({ address: "203.0.113.1", requests: 5 })]);
      await writeRefusals(storage, "b", [row({ address: "203.0.113.1", requests: 7 })]);
      expect(await sumRefusals(storage, { ...all, by: [] }, 1)).toMatchObject([{ groups: [], requests: 119 + 5 + 7 }]);
      expect(await sumRefusals(storage, { ...all, by: ["address"] }, 1)).toMatchObject([
        { groups: ["203.0.113.1"], requests: 12 },
      ]);
    });

    test("times are in order, everything else by the number of requests; filters apply to both", async () => {
      const later = START_MS / 60_000 + 61;
      await writeRefusals(storage, "a", [
        row({ requests: 2 }),
        row({ minute: later, reason: "rate_limited", project: "red", keyId: "key_1", requests: 9 }),
        row({ minute: later, requests: 3 }),
      ]);
      const [first, second] = [START_MS, START_MS + HOUR_MS].map((ms) => new Date(ms).toISOString());
      expect(await sumRefusals(storage, { ...all, by: ["hour", "reason"] }, 10)).toMatchObject([
        { groups: [first ?? "", "unauthenticated"], requests: 2 },
        { groups: [second ?? "", "rate_limited"], requests: 9 },
        { groups: [second ?? "", "unauthenticated"], requests: 3 },
      ]);
      expect(await sumRefusals(storage, { ...all, by: ["key"], project: "red" }, 10)).toMatchObject([
        { groups: ["key_1"], requests: 9 },
      ]);
      expect(await sumRefusals(storage, { ...all, by: [], keyId: "" }, 10)).toMatchObject([
        { groups: [], requests: 5 },
      ]);
      const none = { by: [], fromMs: START_MS - HOUR_MS, toMs: START_MS };
      expect(await sumRefusals(storage, none, 10)).toMatchObject([{ groups: [], requests: 0 }]);
      await deleteRefusalsBefore(storage, START_MS + HOUR_MS);
      expect(await sumRefusals(storage, { ...all, by: ["day"] }, 10)).toMatchObject([
        { groups: [first ?? ""], requests: 12 },
      ]);
    });
  });
}

for (const databases of testDatabases("refused requests")) refusalsContract(databases);
