import { Database } from "bun:sqlite";
import { renameSync } from "node:fs";
import { readConfig } from "../../../app/read-config.ts";
import { GatewayError } from "../../../canon/error.ts";
import { damageOf } from "../../../storage/copy-sqlite.ts";
import { lastUpgradeCopy } from "../../../storage/upgrade-copy.ts";
import { defineCommand, EXIT, printJson } from "../../command.ts";
import { configSource } from "../../config-source.ts";
import { Aside, databaseFile } from "./backup-folder.ts";
import { forgetInstances, requireStopped } from "./require-stopped.ts";

export const rollback = defineCommand({
  flags: {
    "dry-run": { type: "boolean", default: false, about: "show what would be put back, and change nothing" },
  },
  run: async ({ values }) => {
    const config = readConfig({ ...configSource(values.config), sections: ["storage", "data_dir"] });
    const database = databaseFile(config, "rollback");
    const copy = lastUpgradeCopy(database);
    if (copy === undefined) {
      throw new GatewayError(
        "not_found",
        `There is no copy from before an upgrade beside ${database}. To return to a backup, use \`trivium restore FOLDER\`.`,
      );
    }
    const damage = damageOf(copy.path);
    if (damage !== undefined) throw new GatewayError("internal", `The copy ${copy.path} is damaged: ${damage}`);
    if (!values["dry-run"]) await requireStopped(config.storage);
    const later = receiptsSince(copy.path, database);
    const kept = values["dry-run"] ? [] : putBack(copy.path, database);
    if (!values["dry-run"]) await forgetInstances(config.storage, Date.now());
    const madeAt = new Date(copy.madeAtMs).toISOString();
    if (values.json) {
      printJson({ version: copy.version, made_at: madeAt, later_receipts: later ?? null, kept });
      return EXIT.ok;
    }
    const verb = values["dry-run"] ? "Would put back" : "Put back";
    console.log(`${verb} the database of ${madeAt}, whose tables are at version ${copy.version}.`);
    console.log(
      later === undefined
        ? "The present database cannot be read, so it is not known which receipts came after."
        : `Receipts that came after: ${later.count}, of ${(later.cost_nano_usd / 1e9).toFixed(6)} USD. They are not in it, and budgets do not count them.`,
    );
    for (const file of kept) console.log(`The previous data is in ${file}`);
    if (!values["dry-run"])
      console.log("Now start the program that you upgraded from. This one would upgrade it again.");
    return EXIT.ok;
  },
});

/** Receipts that the copy does not have. Undefined if the database cannot be read. */
function receiptsSince(copy: string, database: string): { count: number; cost_nano_usd: number } | undefined {
  let opened: Database | undefined;
  try {
    opened = new Database(database, { readwrite: true, create: false });
    opened.run("ATTACH ? AS before_upgrade", [copy]);
    const sums = opened.query(
      `SELECT COUNT(*) AS count, COALESCE(SUM(cost_nano_usd), 0) AS cost_nano_usd FROM main.receipts AS later
       WHERE NOT EXISTS (SELECT 1 FROM before_upgrade.receipts AS known WHERE known.id = later.id)`,
    );
    return sums.get() as { count: number; cost_nano_usd: number };
  } catch {
    return undefined;
  } finally {
    opened?.close();
  }
}

/** The copy becomes the database. What was there gets another name. */
function putBack(copy: string, database: string): string[] {
  const aside = new Aside(Date.now());
  renameSync(copy, `${database}.part`);
  aside.moveDatabase(database);
  renameSync(`${database}.part`, database);
  return aside.kept;
}
