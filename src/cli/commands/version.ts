import { VERSION } from "../../version.ts";
import { defineCommand, EXIT, printJson } from "../command.ts";

export const version = defineCommand({
  flags: {},
  run: async ({ values }) => {
    if (values.json) printJson({ version: VERSION, bun: Bun.version });
    else console.log(VERSION);
    return EXIT.ok;
  },
});
