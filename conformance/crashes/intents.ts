/**
 * `npm run crashes:intents`: a gateway with `ledger.intents` under load is killed with SIGKILL at a random moment,
 * again and again; with workers, in turn one of them, the first process, and all at once. In the end every call with a
 * request that reached the provider has a row: a receipt, `pending` or `interrupted`.
 *
 * Options: --store sqlite|postgres (default sqlite), --runs N (default 100), --workers N (default none), --seed N.
 */
import { parseArgs } from "node:util";
import { startPostgres } from "../../testing/postgres.ts";
import { crashWithIntents } from "./crash-with-intents.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    runs: { type: "string", default: "100" },
    workers: { type: "string", default: "0" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
if (values.store === "postgres" && postgres === undefined)
  throw new Error("There is no PostgreSQL that can be started.");
try {
  const report = await crashWithIntents({
    runs: Number(values.runs),
    seed: Number(values.seed),
    workers: Number(values.workers),
    ...(postgres && { storageUrl: postgres.url }),
  });
  const { kills, missing, unsettled, twice, wrongSums } = report;
  console.log(
    `${values.store}, ${values.workers} workers: killed ${kills.worker} times a worker, ${kills["first process"]} times the first process, ${kills.all} times all, seed ${values.seed}: ` +
      `${report.asked} calls, ${report.reached} reached the provider, ${report.answered} answered whole, ${report.rows} rows, ${report.open} of them pending or interrupted; ${missing.length} calls without a row, ${unsettled.length} answers without a receipt, ${twice} rows twice, ${wrongSums} wrong sums`,
  );
  process.exitCode = missing.length + unsettled.length + twice + wrongSums > 0 ? 1 : 0;
} finally {
  await postgres?.stop();
}
