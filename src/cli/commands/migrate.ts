import { join } from "node:path";
import { readConfig } from "../../app/read-config.ts";
import { system } from "../../base/system.ts";
import { leftBefore } from "../../ledger/left-journals.ts";
import { recoverJournals } from "../../ledger/recover-journals.ts";
import { copyStorage } from "../../storage/copy-storage.ts";
import { openStorage } from "../../storage/open.ts";
import { redactStorageUrl } from "../../storage/redact-storage-url.ts";
import type { Storage } from "../../storage/storage.ts";
import { storageFailure } from "../../storage/storage-failure.ts";
import { defineCommand, EXIT, printJson, printTable, UsageError } from "../command.ts";
import { configSource } from "../config-source.ts";
import { requireStopped } from "../require-stopped.ts";

export const migrate = defineCommand({
  flags: {
    to: { type: "string", value: "URL", about: "empty PostgreSQL database: postgres://user:password@host/database" },
  },
  run: async ({ values }) => {
    const { to } = values;
    if (to === undefined || !/^postgres(ql)?:\/\//.test(to)) {
      throw new UsageError("--to must have the form postgres://user:password@host/database.");
    }
    const config = readConfig({ ...configSource(values.config), sections: ["storage", "data_dir", "files"] });
    if (!config.storage.startsWith("sqlite:")) {
      throw new UsageError(
        `The configured storage is ${redactStorageUrl(config.storage)}. Only SQLite databases can be migrated.`,
      );
    }
    const source = await openStorage(config.storage, system.clock);
    try {
      await requireStopped(source);
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
