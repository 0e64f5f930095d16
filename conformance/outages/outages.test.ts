import { afterAll, describe, expect, test } from "bun:test";
import { isPresent, programsPresent } from "../../testing/is-present.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { createTables } from "../../testing/postgres-tables.ts";
import { startRedis } from "../../testing/redis.ts";
import { OUTAGES, playOutage } from "./play-outage.ts";

const redis = programsPresent("outages of servers", "redis-server") ? await startRedis() : undefined;
const postgres = redis && (await startPostgres());
const tables = postgres && (await createTables(postgres.url));
if (redis !== undefined)
  isPresent(postgres !== undefined, "outages of servers: there is no PostgreSQL that can be started");
afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
});

/** In which of them a gateway is killed too; `npm run outages` does all of them, for longer. */
const KILLS = ["PostgreSQL stopped", "Redis frozen"];

describe.skipIf(redis === undefined || postgres === undefined)("H21, H29, choices 9: two gateways under load", () => {
  for (const outage of OUTAGES) {
    const kills = KILLS.includes(outage.name);
    test(`${outage.name}${kills ? ", and one of them killed" : ""}: no call fails, no row is lost, no budget is exceeded`, async () => {
      if (redis === undefined || postgres === undefined || tables === undefined) throw new Error("not skipped");
      const report = await playOutage(outage, {
        servers: { postgres, tables, redis },
        seconds: 1.5,
        kills,
        refusedMs: 500,
        pauseMs: 60,
        calmMs: 1_000,
      });
      const { failures, missing, wrongRows, wrongSums, answered, budget } = report;
      expect({ failures, missing, wrongRows, wrongSums }).toEqual({
        failures: [],
        missing: 0,
        wrongRows: 0,
        wrongSums: 0,
      });
      expect(answered).toBeGreaterThan(50);
      expect(budget.spent).toBeLessThanOrEqual(budget.calls);
    });
  }
});
