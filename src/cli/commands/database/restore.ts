import { resolve } from "node:path";
import { readConfig } from "../../../app/read-config.ts";
import { withSecrets } from "../../../app/secrets/with-secrets.ts";
import { LATEST_VERSION } from "../../../storage/open.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../../command.ts";
import { configSource } from "../../config-source.ts";
import { readBackup, restoreBackup } from "./backup-folder.ts";
import { forgetInstances, requireStopped } from "./require-stopped.ts";

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
    await requireStopped(config.storage);
    const kept = restoreBackup(config, resolve(folder), manifest, Date.now());
    const version = await forgetInstances(config.storage, Date.now());
    if (values.json) printJson({ restored: manifest, kept });
    else {
      console.log(`Restored the backup of ${manifest.created_at}.`);
      for (const file of kept) console.log(`The previous data is in ${file}`);
    }
    if (version > LATEST_VERSION)
      console.error(
        `Its tables are at version ${version}; this program knows versions up to ${LATEST_VERSION}. Run the newer program.`,
      );
    return EXIT.ok;
  },
});
