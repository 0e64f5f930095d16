import { namedRetirements, tellRetirement } from "../../app/catalogue/named-retirements.ts";
import { storedCatalogue } from "../../app/catalogue/stored-catalogue.ts";
import type { ConfigSource } from "../../app/read-config.ts";
import { readConfigInForce } from "../../app/read-config-in-force.ts";
import { makeSnapshot } from "../../app/snapshot.ts";
import { type LiveResult, tryProvider } from "../../app/try-provider.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { NO_UPDATES, type UpdatedModels } from "../../catalogue/updates/apply-updates.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError, tellProblem } from "../../config/load.ts";
import type { Provider } from "../../providers/provider.ts";
import { paintFor } from "../colour.ts";
import { defineCommand, EXIT, printJson } from "../command.ts";
import { configSource } from "../config-source.ts";

export const check = defineCommand({
  flags: { live: { type: "boolean", default: false, about: "also check each provider's API key (free of charge)" } },
  run: async ({ values }) => {
    const found = await tryConfig(configSource(values.config));
    if (found instanceof ConfigError) {
      if (!values.json) throw found;
      printJson({ ok: false, problems: found.problems });
      return EXIT.failed;
    }
    const { file, providers, models, warnings, retirements, unread } = found;
    const names = [...new Set(providers.map(({ name }) => name))];
    const live = values.live ? await Promise.all(providers.filter(isRemote).map(tryProvider)) : undefined;
    const ok = live === undefined || live.every(({ state }) => state === "ok" || state === "unchecked");
    if (values.json) {
      const notes = { warnings, retirements, ...withoutAbsent({ unread, live }) };
      printJson({ ok, file, providers: names, models, ...notes });
    } else {
      for (const warning of warnings) console.error(tellProblem(warning));
      for (const model of retirements) console.error(tellRetirement(model));
      if (unread !== undefined) console.error(unread);
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

async function tryConfig(source: ConfigSource) {
  try {
    const config = await readConfigInForce(source);
    const simulator = config.simulator ? { url: `http://${NO_HOST}`, key: "none" } : undefined;
    const { models: base, unread } = await modelsInForce(config);
    const { catalogue, providers } = makeSnapshot(config, source.environment, system, simulator, undefined, base);
    return {
      file: config.file ?? null,
      providers: [...providers.values()].flat(),
      models: catalogue.list().length,
      warnings: config.warnings,
      retirements: namedRetirements(config, catalogue, system.clock.wallMs()),
      unread,
    };
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** A configuration can be checked where its storage cannot be reached. */
async function modelsInForce(config: Config): Promise<{ models: UpdatedModels; unread?: string }> {
  try {
    return { models: await storedCatalogue(config) };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return { models: NO_UPDATES, unread: `Updates of the catalogue were not read: ${reason}` };
  }
}
