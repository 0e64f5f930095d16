import { describe, expect, test } from "bun:test";
import { isPresent } from "../../testing/is-present.ts";
import { makeDatabase, postgresServer } from "../support/postgres-database.ts";
import { crashWithIntents } from "./crash-with-intents.ts";

const NOTHING_WRONG = { missing: [], unsettled: [], twice: 0, wrongSums: 0 };
isPresent(postgresServer !== undefined, "crashes with intents on PostgreSQL, because TRIVIUM_TEST_POSTGRES is not set");

/** `npm run crashes:intents` does the same a hundred times. */
describe("H14, H21: with ledger.intents, a call that reached a provider has a row after kill -9", () => {
  test("on SQLite", async () => {
    const report = await crashWithIntents({ runs: 3, seed: 7 });
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(report.reached).toBeGreaterThan(0);
  });

  test("with workers: one of them, the first process, and all of them", async () => {
    const report = await crashWithIntents({ runs: 3, seed: 9, workers: 3 });
    expect(report).toMatchObject({ ...NOTHING_WRONG, kills: { worker: 1, "first process": 1, all: 1 } });
    expect(report.reached).toBeGreaterThan(0);
  });

  test.skipIf(postgresServer === undefined)("on PostgreSQL", async () => {
    const database = await makeDatabase();
    try {
      const report = await crashWithIntents({ runs: 2, seed: 8, storageUrl: database.url.href });
      expect(report).toMatchObject(NOTHING_WRONG);
      expect(report.reached).toBeGreaterThan(0);
    } finally {
      await database.drop();
    }
  });
});
