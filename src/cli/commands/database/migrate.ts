import { join } from "node:path";
import { readConfig } from "../../../app/read-config.ts";
import { system } from "../../../base/system.ts";
import { leftBefore } from "../../../ledger/left-journals.ts";
import { recoverJournals } from "../../../ledger/recover-journals.ts";
import { copyStorage } from "../../../storage/copy-storage.ts";
import { LATEST_VERSION, openStorage } from "../../../storage/open.ts";
import { redactStorageUrl } from "../../../storage/redact-storage-url.ts";
import type { Storage } from "../../../storage/storage.ts";
import { storageFailure } from "../../../storage/storage-failure.ts";
import { defineCommand, EXIT, printJson, printTable, UsageError } from "../../command.ts";
import { configSource } from "../../config-source.ts";
import { requireFile } from "../../with-storage.ts";
import { requireStopped } from "./require-stopped.ts";

export const migrate = defineCommand({
  flags: {
    to: {
      type: "string",
      value: "URL",
      about: "copy a SQLite database into this empty PostgreSQL database: postgres://user:password@host/database",
    },
    "without-copy": { type: "boolean", default: false, about: "keep no copy of a SQLite database before the upgrade" },
  },
  run: async ({ values }) => {
    const { to } = values;
    if (to !== undefined && !/^postgres(ql)?:\/\//.test(to)) {
      throw new UsageError("--to must have the form postgres://user:password@host/database.");
    }
    const config = readConfig({ ...configSource(values.config), sections: ["storage", "data_dir", "files"] });
    const isSqlite = config.storage.startsWith("sqlite:");
    if (to !== undefined && !isSqlite) {
      throw new UsageError(
        `The configured storage is ${redactStorageUrl(config.storage)}. Only SQLite databases can be copied.`,
      );
    }
    requireFile(config);
    // Gateways on PostgreSQL may run: an older version keeps working on upgraded tables.
    if (isSqlite) await requireStopped(config.storage);
    const options = { keepCopy: !values["without-copy"] };
    const source = await openStorage(config.storage, system.clock, undefined, options);
    try {
      if (to === undefined) {
        const done = { storage: redactStorageUrl(config.storage), version: LATEST_VERSION };
        if (values.json) printJson(done);
        else console.log(`The tables in ${done.storage} are at version ${done.version}.`);
        return EXIT.ok;
      }
      // The journal of a killed gateway belongs to the ledger.
      const isLeft = leftBefore(Date.now());
      await recoverJournals({ storage: source, folder: join(config.dataDir, "journal"), isLeft });
      const copied = await copyTo(to, source);
      if (values.json) printJson(copied);
      else {
        printTable(
          ["table", "rows"],
          copied.map(({ table, rows }) => [table, String(rows)]),
        );
        console.log(
          `All rows were copied and verified. Set storage: ${redactStorageUrl(to)} in the configuration and start the gateway.`,
        );
      }
    } finally {
      await source.close();
    }
    return EXIT.ok;
  },
});

async function copyTo(url: string, source: Storage) {
  const target = await openStorage(url, system.clock);
  try {
    return await copyStorage(source, target);
  } catch (thrown) {
    throw storageFailure(thrown, url);
  } finally {
    await target.close();
  }
}
