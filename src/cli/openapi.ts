import { readConfig } from "../app/read-config.ts";
import { openApiDocument } from "../server/openapi.ts";
import { VERSION } from "../version.ts";
import { defineCommand, EXIT, printJson } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { configPath } from "./config-path.ts";

export const openapi = defineCommand({
  ...aboutCommand("openapi"),
  flags: {},
  run: async ({ values }) => {
    const config = readConfig({ ...configPath(values.config), cwd: process.cwd(), environment: process.env });
    printJson(openApiDocument({ publicUrl: config.server.publicUrl, version: VERSION }));
    return EXIT.ok;
  },
});
