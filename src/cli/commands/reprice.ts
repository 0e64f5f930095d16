import { recordAct } from "../../access/audit.ts";
import { matches } from "../../access/model-glob.ts";
import { readCatalogue } from "../../app/catalogue/catalogue-updates.ts";
import { makeSnapshot } from "../../app/snapshot.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { priceAgain } from "../../catalogue/price-again.ts";
import { type Repriced, reprice as repriceLedger } from "../../ledger/reprice.ts";
import { COMMAND_LINE } from "../actor.ts";
import { defineCommand, EXIT, printJson, printTable, UsageError } from "../command.ts";
import { configSource } from "../config-source.ts";
import { withStorage } from "../with-storage.ts";

export const reprice = defineCommand({
  flags: {
    from: { type: "string", value: "TIME", about: "start of the range: 2026-01-31 or 2026-01-31T12:00:00Z (UTC)" },
    to: { type: "string", value: "TIME", about: "end of the range (exclusive)" },
    model: { type: "string", value: "GLOB", about: 'only models that match this pattern, such as "openai/*"' },
    project: { type: "string", value: "P", about: "only this project" },
    "dry-run": { type: "boolean", default: false, about: "show the corrections without applying them" },
  },
  run: async ({ values }) => {
    const fromMs = timeOf("from", values.from);
    const untilMs = timeOf("to", values.to);
    if (untilMs <= fromMs) throw new UsageError("--to must be later than --from.");
    const { environment } = configSource(values.config);
    const { model: glob = "*", project } = values;
    const dryRun = values["dry-run"];
    const result = await withStorage(
      values.config,
      async (storage, config) => {
        const simulator = config.simulator ? { url: "http://127.0.0.1:0", key: "none" } : undefined;
        const { catalogue } = makeSnapshot(
          config,
          environment,
          system,
          simulator,
          undefined,
          await readCatalogue(storage),
        );
        const run = (dry: boolean) =>
          repriceLedger(storage, {
            fromMs,
            untilMs,
            project,
            isWanted: ({ model }) => matches(glob, model),
            priceAgain: (receipt, textOf) => priceAgain(receipt, catalogue, textOf),
            dryRun: dry,
          });
        const expected = await run(true);
        if (dryRun || expected.corrected === 0) return expected;
        // Written down before anything is: a run that is interrupted is known as well.
        await recordAct(
          storage,
          {
            ...COMMAND_LINE,
            act: "ledger.reprice",
            target: `${values.from}..${values.to}`,
            ...withoutAbsent({ project }),
            after: { model: glob, ...viewOf(expected) },
          },
          system,
        );
        return run(false);
      },
      { wholeConfig: true },
    );
    if (values.json) printJson({ dry_run: dryRun, ...viewOf(result) });
    else tell(result, dryRun);
    return EXIT.ok;
  },
});

function timeOf(flag: string, given: string | undefined): number {
  if (given === undefined) throw new UsageError(`Missing option --${flag}. Pass a time such as 2026-01-31.`);
  const ms = TIME.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(ms))
    throw new UsageError(`--${flag}: "${given}" is not a valid time. Use 2026-01-31 or 2026-01-31T12:00:00Z.`);
  return ms;
}

/** A day, which is read as UTC, or a moment that says its zone. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

const viewOf = ({ receipts, corrected, differenceNanoUsd, models, skipped }: Repriced) => ({
  receipts,
  corrected,
  difference_usd: differenceNanoUsd / 1e9,
  difference_nano_usd: differenceNanoUsd,
  models: models.map((sum) => ({
    model: sum.model,
    corrected: sum.corrected,
    difference_usd: sum.differenceNanoUsd / 1e9,
    difference_nano_usd: sum.differenceNanoUsd,
  })),
  skipped,
});

function tell({ receipts, corrected, differenceNanoUsd, models, skipped }: Repriced, dryRun: boolean): void {
  const usd = (nano: number) => (nano / 1e9).toFixed(9);
  if (models.length > 0) {
    printTable(
      ["model", "corrected", "USD"],
      models.map((sum) => [sum.model, String(sum.corrected), usd(sum.differenceNanoUsd)]),
    );
  }
  for (const [reason, count] of Object.entries(skipped)) console.log(`${count} skipped: ${reason}`);
  const done = dryRun ? "would be corrected" : "were corrected";
  console.log(`${receipts} receipts checked: ${corrected} ${done}, total difference ${usd(differenceNanoUsd)} USD`);
}
