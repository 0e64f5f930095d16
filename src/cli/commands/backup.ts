import { resolve } from "node:path";
import { readConfig } from "../../app/read-config.ts";
import { makeBackup } from "../backup-folder.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../command.ts";
import { configSource } from "../config-source.ts";

export const backup = defineCommand({
  flags: {
    files: { type: "boolean", default: false, about: "include generated images and videos, which expire within hours" },
  },
  takes: 1,
  run: async ({ values, positionals }) => {
    const [folder] = positionals;
    if (folder === undefined)
      throw new UsageError("Missing folder. Name an empty folder, or one that does not exist yet.");
    const config = readConfig({ ...configSource(values.config), sections: ["storage", "data_dir", "files"] });
    const manifest = makeBackup(config, resolve(folder), { files: values.files, nowMs: Date.now() });
    if (values.json) printJson({ folder: resolve(folder), ...manifest });
    else console.log(`Backed up to ${folder}: the database${manifest.parts.map((part) => `, ${part}`).join("")}.`);
    return EXIT.ok;
  },
});
