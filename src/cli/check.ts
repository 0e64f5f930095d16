import { readConfig } from "../app/read-config.ts";
import { makeSnapshot } from "../app/snapshot.ts";
import { ConfigError } from "../config/load.ts";
import { defineCommand, EXIT, printJson } from "./command.ts";
import { configPath } from "./config-path.ts";

export const check = defineCommand({
  name: "check",
  usage: "",
  summary: "read the configuration and say what is wrong with it",
  flags: {},
  run: async ({ values }) => {
    const options = { ...configPath(values.config), cwd: process.cwd(), environment: process.env };
    const found = tryConfig(options);
    if (found instanceof ConfigError) {
      if (!values.json) throw found;
      printJson({ ok: false, problems: found.problems });
      return EXIT.failed;
    }
    if (values.json) printJson({ ok: true, ...found });
    else
      console.log(
        `${found.file ?? "defaults"}: fine; ${found.models} models from ${found.providers.join(", ") || "no provider"}`,
      );
    return EXIT.ok;
  },
});

function tryConfig(options: Parameters<typeof readConfig>[0]) {
  try {
    const config = readConfig(options);
    const simulator = config.simulator ? { url: "http://127.0.0.1:0" } : undefined;
    const { catalogue, providers } = makeSnapshot(config, process.env, simulator);
    return { file: config.file ?? null, providers: [...providers.keys()], models: catalogue.list().length };
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
