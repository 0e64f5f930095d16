import { readConfig } from "../app/read-config.ts";
import { openApiDocument } from "../server/openapi.ts";
import { VERSION } from "../version.ts";
import { defineCommand, EXIT, printJson } from "./command.ts";
import { configPath } from "./config-path.ts";

export const openapi = defineCommand({
  name: "openapi",
  usage: "",
  summary: "print the OpenAPI description of the addresses",
  flags: {},
  run: async ({ values }) => {
    const config = readConfig({ ...configPath(values.config), cwd: process.cwd(), environment: process.env });
    printJson(openApiDocument({ publicUrl: config.server.publicUrl, version: VERSION }));
    return EXIT.ok;
  },
});
