import { readConfig } from "../app/read-config.ts";
import { makeSnapshot } from "../app/snapshot.ts";
import { ConfigError, tellProblem } from "../config/load.ts";
import { defineCommand, EXIT, printJson } from "./command.ts";
import { aboutCommand } from "./commands.ts";
import { configPath } from "./config-path.ts";

export const check = defineCommand({
  ...aboutCommand("check"),
  flags: {},
  run: async ({ values }) => {
    const options = { ...configPath(values.config), cwd: process.cwd(), environment: process.env };
    const found = tryConfig(options);
    if (found instanceof ConfigError) {
      if (!values.json) throw found;
      printJson({ ok: false, problems: found.problems });
      return EXIT.failed;
    }
    const { file, providers, models, warnings } = found;
    if (values.json) printJson({ ok: true, ...found });
    else {
      for (const warning of warnings) console.error(tellProblem(warning));
      console.log(`${file ?? "defaults"}: fine; ${models} models from ${providers.join(", ") || "no provider"}`);
    }
    return EXIT.ok;
  },
});

function tryConfig(options: Parameters<typeof readConfig>[0]) {
  try {
    const config = readConfig(options);
    const simulator = config.simulator ? { url: "http://127.0.0.1:0" } : undefined;
    const { catalogue, providers } = makeSnapshot(config, process.env, simulator);
    const { file = null, warnings } = config;
    return { file, providers: [...providers.keys()], models: catalogue.list().length, warnings };
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
