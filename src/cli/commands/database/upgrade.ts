import { statSync } from "node:fs";
import { readConfig } from "../../../app/read-config.ts";
import { system } from "../../../base/system.ts";
import { tooNew } from "../../../storage/migrate.ts";
import { MIGRATIONS } from "../../../storage/migrations/index.ts";
import type { Migration } from "../../../storage/migrations/migration.ts";
import { LATEST_VERSION, openUnchanged } from "../../../storage/open.ts";
import { redactStorageUrl, sqlitePath } from "../../../storage/redact-storage-url.ts";
import type { Storage } from "../../../storage/storage.ts";
import { VERSION } from "../../../version.ts";
import { defineCommand, EXIT, printJson, printTable, UsageError } from "../../command.ts";
import { configSource } from "../../config-source.ts";
import { requireFile } from "../../with-storage.ts";

export const upgrade = defineCommand({
  flags: {
    check: { type: "boolean", default: false, about: "show what this version would change in the database" },
  },
  run: async ({ values }) => {
    if (!values.check) {
      throw new UsageError(
        "Pass --check to see what this version would change. `trivium serve` and `trivium migrate` make the changes.",
      );
    }
    // The whole configuration: a field that this version does not know is found now.
    const config = readConfig(configSource(values.config));
    requireFile(config);
    const { storage, version } = await openUnchanged(config.storage, system.clock);
    await storage.close();
    if (version > LATEST_VERSION) throw tooNew(version, LATEST_VERSION);
    const pending = MIGRATIONS.filter((migration) => migration.version > version);
    const changes = pending.map((migration) => ({
      version: migration.version,
      name: migration.name,
      tables: tablesOf(migration, storage.engine),
    }));
    const shown = redactStorageUrl(config.storage);
    if (values.json) {
      printJson({ program: VERSION, version, needs: LATEST_VERSION, changes });
      return EXIT.ok;
    }
    if (changes.length === 0) {
      console.log(`Trivium ${VERSION} changes nothing in ${shown}: its tables are at version ${version}.`);
      return EXIT.ok;
    }
    console.log(`Trivium ${VERSION} upgrades ${shown} from version ${version} to ${LATEST_VERSION}:`);
    printTable(
      ["version", "change", "tables"],
      changes.map((change) => [String(change.version), change.name, change.tables.join(", ")]),
    );
    const file = sqlitePath(config.storage);
    console.log(
      file === undefined
        ? "Older programs do not start on it afterwards. Make a dump first: docs/deploy.md#postgresql."
        : `A copy of ${megabytesOf(file)} MB is kept beside it; \`trivium rollback\` puts it back. Older programs do not start on the upgraded one.`,
    );
    return EXIT.ok;
  },
});

const megabytesOf = (file: string): number => Math.ceil(statSync(file).size / 1e6);

const CHANGED = /\b(?:TABLE|INTO|UPDATE|ON|FROM)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?([a-z_]+)/g;
const CHANGES = /^\s*(?:CREATE|ALTER|DROP|INSERT|UPDATE|DELETE)\b/;

/** The tables that its statements name, for people. */
function tablesOf({ statements }: Migration, engine: Storage["engine"]): string[] {
  const texts = statements.map((statement) => (typeof statement === "string" ? statement : statement(engine)));
  const named = texts
    .filter((text) => CHANGES.test(text))
    .flatMap((text) => [...text.matchAll(CHANGED)].map(([, name = ""]) => name));
  return [...new Set(named)].sort();
}
