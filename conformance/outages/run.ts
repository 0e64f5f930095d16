/**
 * `npm run outages`: two gateway processes on PostgreSQL and Redis under load, while one of those servers is stopped, frozen or flushed; each
 * time once more with every second gateway killed by SIGKILL in the middle. No call may fail, no row be lost, no budget passed.
 *
 * Options: --gateways N (default 2), --seconds N (default 30), --only WORDS (outages whose name has them), --kills no|yes|both (default both).
 */
import { parseArgs } from "node:util";
import { startPostgres } from "../../testing/postgres.ts";
import { createTables } from "../../testing/postgres-tables.ts";
import { startRedis } from "../../testing/redis.ts";
import { OUTAGES, type OutageReport, playOutage } from "./play-outage.ts";

const { values } = parseArgs({
  options: {
    gateways: { type: "string", default: "2" },
    seconds: { type: "string", default: "30" },
    only: { type: "string", default: "" },
    kills: { type: "string", default: "both" },
  },
});
const postgres = await startPostgres();
const redis = await startRedis();
if (postgres === undefined || redis === undefined) throw new Error("PostgreSQL and redis-server must be installed.");
const tables = await createTables(postgres.url);

const isWrong = ({ failures, missing, wrongRows, wrongSums, budget }: OutageReport): boolean =>
  failures.length + missing + wrongRows + wrongSums > 0 || budget.spent > budget.calls;

try {
  for (const outage of OUTAGES.filter(({ name }) => name.includes(values.only))) {
    for (const kills of values.kills === "both" ? [false, true] : [values.kills === "yes"]) {
      const report = await playOutage(outage, {
        servers: { postgres, tables, redis },
        seconds: Number(values.seconds),
        gateways: Number(values.gateways),
        kills,
        refusedMs: 25_000,
        pauseMs: 20,
        calmMs: 2_000,
      });
      const { failures, budget } = report;
      console.log(
        `${outage.name} for ${values.seconds} s${kills ? ", every second gateway killed" : ""}: ${report.asked} calls, ${report.answered} answered whole, ${failures.length} failed; slowest ${report.slowestMs} ms; healed in ${report.healedMs} ms; ` +
          `${report.missing} answers without a row, ${report.wrongRows} wrong rows, ${report.wrongSums} wrong sums; ${budget.spent} calls of a budget for ${budget.calls}`,
      );
      for (const failure of failures.slice(0, 5)) console.log("  ", failure);
      if (isWrong(report)) process.exitCode = 1;
    }
  }
} finally {
  await redis.stop();
  await postgres.stop();
}
