import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readConfig } from "../../app/read-config.ts";
import { withSecrets } from "../../app/secrets/with-secrets.ts";
import { system } from "../../base/system.ts";
import type { Config } from "../../config/config.ts";
import { openStorage } from "../../storage/open.ts";
import type { Storage } from "../../storage/storage.ts";
import { deleteInstance, selectInstances } from "../../storage/tables/instances.ts";
import { databaseFile, readBackup, restoreBackup } from "../backup-folder.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../command.ts";
import { configSource } from "../config-source.ts";
import { requireStopped } from "../require-stopped.ts";

export const restore = defineCommand({
  flags: {},
  takes: 1,
  run: async ({ values, positionals }) => {
    const [folder] = positionals;
    if (folder === undefined) throw new UsageError("Missing folder. Name the folder of a backup.");
    const config = readConfig(
      await withSecrets({ ...configSource(values.config), sections: ["storage", "data_dir", "files"] }),
    );
    const manifest = readBackup(resolve(folder));
    if (existsSync(databaseFile(config, "restore"))) await within(config, requireStopped);
    const kept = restoreBackup(config, resolve(folder), manifest, Date.now());
    // Gateways that ran when it was made do not run on this one.
    await within(config, async (storage) => {
      for (const { id } of await selectInstances(storage)) await deleteInstance(storage, id);
    });
    if (values.json) printJson({ restored: manifest, kept });
    else {
      console.log(`Restored the backup of ${manifest.created_at}.`);
      for (const file of kept) console.log(`The previous data is in ${file}`);
    }
    return EXIT.ok;
  },
});

async function within(config: Config, work: (storage: Storage) => Promise<void>): Promise<void> {
  const storage = await openStorage(config.storage, system.clock);
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}
