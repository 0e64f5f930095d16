import { type ConfigSource, readConfig } from "../../app/read-config.ts";
import { makeSnapshot } from "../../app/snapshot.ts";
import { type LiveResult, tryProvider } from "../../app/try-provider.ts";
import { system } from "../../base/system.ts";
import { ConfigError, tellProblem } from "../../config/load.ts";
import type { Provider } from "../../providers/provider.ts";
import { paintFor } from "../colour.ts";
import { defineCommand, EXIT, printJson } from "../command.ts";
import { configSource } from "../config-source.ts";

export const check = defineCommand({
  flags: { live: { type: "boolean", default: false, about: "also check each provider's API key (free of charge)" } },
  run: async ({ values }) => {
    const found = tryConfig(configSource(values.config));
    if (found instanceof ConfigError) {
      if (!values.json) throw found;
      printJson({ ok: false, problems: found.problems });
      return EXIT.failed;
    }
    const { file, providers, models, warnings } = found;
    const names = [...new Set(providers.map(({ name }) => name))];
    const live = values.live ? await Promise.all(providers.filter(isRemote).map(tryProvider)) : undefined;
    const ok = live === undefined || live.every(({ state }) => state === "ok" || state === "unchecked");
    if (values.json) printJson({ ok, file, providers: names, models, warnings, ...(live ? { live } : {}) });
    else {
      for (const warning of warnings) console.error(tellProblem(warning));
      console.log(`${file ?? "defaults"}: OK (${models} models from ${names.join(", ") || "no providers"})`);
      for (const result of live ?? []) console.log(tellResult(result));
    }
    return ok ? EXIT.ok : EXIT.failed;
  },
});

/** The built-in simulator takes any key, and does not run yet. */
const isRemote = ({ host }: Provider): boolean => host !== NO_HOST;
const NO_HOST = "127.0.0.1:0";

/** One line of a live check. */
function tellResult({ provider, credential, host, state, detail }: LiveResult): string {
  const { green, red, dim } = paintFor(process.stdout);
  const paint = state === "ok" ? green : state === "unchecked" ? dim : red;
  return `${paint(state.padEnd(11))} ${provider}${credential === undefined ? "" : ` ${credential}`} (${host}): ${detail}`;
}

function tryConfig(source: ConfigSource) {
  try {
    const config = readConfig(source);
    const simulator = config.simulator ? { url: `http://${NO_HOST}`, key: "none" } : undefined;
    const { catalogue, providers } = makeSnapshot(config, source.environment, system, simulator);
    const { file = null, warnings } = config;
    return { file, providers: [...providers.values()].flat(), models: catalogue.list().length, warnings };
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
