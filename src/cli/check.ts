import { makeSnapshot, readConfig } from "../app.ts";
import { type Command, EXIT, printJson, readFlags } from "./command.ts";
import { configPath } from "./config-path.ts";

export const check: Command = {
  name: "check",
  usage: "",
  summary: "read the configuration and say what is wrong with it",
  run: async (args) => {
    const { values } = readFlags(args, {});
    const options = { ...configPath(values.config), cwd: process.cwd(), environment: process.env };
    const config = readConfig(options);
    const simulator = config.simulator ? { url: "http://127.0.0.1:0" } : undefined;
    const { catalogue, providers } = makeSnapshot(config, process.env, simulator);
    const found = { file: config.file ?? null, providers: [...providers.keys()], models: catalogue.list().length };
    if (values.json) printJson({ ok: true, ...found });
    else
      console.log(
        `${found.file ?? "defaults"}: fine; ${found.models} models from ${found.providers.join(", ") || "no provider"}`,
      );
    return EXIT.ok;
  },
};
