import { readConfig } from "../../app/read-config.ts";
import { ENDPOINTS } from "../../server/endpoints/index.ts";
import { openApiDocument } from "../../server/openapi.ts";
import { VERSION } from "../../version.ts";
import { defineCommand, EXIT, printJson } from "../command.ts";
import { configSource } from "../config-source.ts";

export const openapi = defineCommand({
  flags: {},
  run: async ({ values }) => {
    const config = readConfig({ ...configSource(values.config), sections: ["server"] });
    printJson(openApiDocument({ publicUrl: config.server.publicUrl, version: VERSION, endpoints: ENDPOINTS }));
    return EXIT.ok;
  },
});
