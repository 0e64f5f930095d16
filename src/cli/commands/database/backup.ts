import { resolve } from "node:path";
import { readConfig } from "../../../app/read-config.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../../command.ts";
import { configSource } from "../../config-source.ts";
import { requireFile } from "../../with-storage.ts";
import { makeBackup } from "./backup-folder.ts";

export const backup = defineCommand({
  flags: {
    "without-files": { type: "boolean", default: false, about: "leave out uploaded files and generated media" },
  },
  takes: 1,
  run: async ({ values, positionals }) => {
    const [folder] = positionals;
    if (folder === undefined)
      throw new UsageError("Missing folder. Name an empty folder, or one that does not exist yet.");
    const config = readConfig({ ...configSource(values.config), sections: ["storage", "data_dir", "files"] });
    requireFile(config);
    const files = !values["without-files"];
    const manifest = makeBackup(config, resolve(folder), { files, nowMs: Date.now() });
    if (values.json) printJson({ folder: resolve(folder), ...manifest });
    else {
      console.log(`Backed up to ${folder}: the database${manifest.parts.map((part) => `, ${part}`).join("")}.`);
      if (files && config.files.startsWith("s3://"))
        console.log(`Uploaded files and media stay in ${config.files}. Keep that bucket as long as the backup.`);
    }
    return EXIT.ok;
  },
});
