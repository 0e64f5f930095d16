import { VERSION } from "../version.ts";
import { defineCommand, EXIT, printJson } from "./command.ts";
import { aboutCommand } from "./commands.ts";

export const version = defineCommand({
  ...aboutCommand("version"),
  flags: {},
  run: async ({ values }) => {
    if (values.json) printJson({ version: VERSION, bun: Bun.version });
    else console.log(VERSION);
    return EXIT.ok;
  },
});
