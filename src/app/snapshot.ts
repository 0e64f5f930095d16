import { statSync } from "node:fs";
import { Secret } from "../base/secret.ts";
import type { Sources } from "../base/sources.ts";
import { buildCatalogue, type Catalogue, type ProviderSummary } from "../catalogue/catalogue.ts";
import { SIMULATED_ALIASES, simulatedModels } from "../catalogue/simulated-models.ts";
import { NO_UPDATES, type UpdatedModels } from "../catalogue/updates/apply-updates.ts";
import type { Config, ProviderSettings } from "../config/config.ts";
import { ConfigError } from "../config/load.ts";
import { Guards } from "../guards/guards.ts";
import { BUILT_IN, createProvider, PROVIDER_KINDS } from "../providers/index.ts";
import type { Provider } from "../providers/provider.ts";
import { filesHostsOf, publicOwnersOf, type Registry } from "../providers/registry.ts";
import type { Snapshot } from "../relay/gateway.ts";
import { moderationHook } from "../relay/guard/moderation-hook.ts";
import { webhookHook } from "../relay/guard/webhook-hook.ts";
import { RoutingDefaults } from "../routing/call-routing.ts";
import { Targets } from "../routing/targets.ts";
import { configuredProviders } from "./configured-providers.ts";
import type { ConfigSource } from "./read-config.ts";

const SIMULATOR = "simulator";

/** Where the built-in simulator is, and the key that it was started with. */
export interface SimulatorAccess {
  url: string;
  key: string;
}

/** Everything derived from the configuration, complete before anything uses it. */
export function makeSnapshot(
  config: Config,
  environment: ConfigSource["environment"],
  sources: Sources,
  simulator: SimulatorAccess | undefined,
  registry = BUILT_IN,
  base: UpdatedModels = NO_UPDATES,
): Snapshot {
  const settings = configuredProviders(config, environment);
  const all = simulator ? [...settings, simulatorSettings(simulator, config.batch.mode === "native")] : settings;
  const made = all.map((one) => createOrExplain(one, config.file, sources, registry));
  const providers: ReadonlyMap<string, readonly Provider[]> = Map.groupBy(made, ({ name }) => name);
  const summaries = [...providers].map(([name, [first]]): ProviderSummary => {
    const publishers = first?.publishers ?? [];
    const billing = first?.billing;
    return name === SIMULATOR
      ? { name, publishers: ["sim"], models: simulatedModels(), billing }
      : { name, publishers, billing };
  });
  const first = buildCatalogue({
    providers: summaries,
    models: config.models,
    base,
    atMs: sources.clock.wallMs(),
    since: dayOf(config.file, sources.clock.wallMs()),
    aliases: { ...(simulator ? SIMULATED_ALIASES : {}), ...config.aliases },
    cure: (missing) => missingProvider(missing, config.providers !== undefined),
  });
  const fixed = {
    providers,
    routing: routingDefaults(config.routing, settings),
    imageModel: config.responses.imageModel,
    maxBodyBytes: config.server.maxBodyBytes,
    maxJsonKeys: config.server.maxJsonKeys,
    publicModels: config.server.publicModels,
    live: config.live,
    unpriced: config.billing.unpriced,
    guards: guardsOf(config, first),
    imageLimits: { rounds: config.responses.maxImageRounds, images: config.responses.maxImages },
    publicOwners: publicOwnersOf(registry),
    filesHosts: filesHostsOf(registry),
  };
  const of = (catalogue: Catalogue): Snapshot => ({
    ...fixed,
    catalogue,
    targets: new Targets(catalogue.list(), providers, registry),
    otherAt: (ms) => {
      const then = catalogue.at(ms);
      return then === catalogue ? undefined : of(then);
    },
  });
  return of(first);
}

/** Undefined if none are configured, so that calls need only one comparison. */
function guardsOf({ guards, file }: Config, catalogue: Catalogue): Guards | undefined {
  if (guards.length === 0) return undefined;
  for (const [index, { model }] of guards.entries()) {
    if (model === undefined || catalogue.kindOf(model, { vendorNames: false }) === "moderation") continue;
    const message = `guards[${index}].model: no moderation model ${model} is configured`;
    throw new ConfigError([{ file: file ?? "environment", line: 1, column: 1, message }]);
  }
  return new Guards(guards, (settings) =>
    settings.use === "webhook" ? webhookHook(settings) : moderationHook(settings),
  );
}

/** A provider without its own setting uses the gateway's. */
function routingDefaults(gateway: Config["routing"], settings: readonly ProviderSettings[]): RoutingDefaults {
  const own = settings.filter(({ breaker, maxConcurrent }) => breaker !== undefined || maxConcurrent !== undefined);
  const entries = own.map(({ name, breaker, maxConcurrent }) => {
    return [name, { breaker: { ...gateway.breaker, ...breaker }, maxConcurrent }] as const;
  });
  return new RoutingDefaults(gateway, new Map(entries));
}

/** The day of the file that configures models, or of the start where there is none (contract 2.9). */
function dayOf(file: string | undefined, nowMs: number): string {
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return (stat?.mtime ?? new Date(nowMs)).toISOString().slice(0, 10);
}

/**
 * The providers of the file were checked when it was read; a credentials file that disappeared since is a configuration
 * mistake, too.
 */
function createOrExplain(
  settings: ProviderSettings,
  file: string | undefined,
  sources: Sources,
  { kinds }: Registry,
): Provider {
  try {
    return createProvider(settings, sources, kinds);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `providers.${settings.name}: ${why}`;
    throw new ConfigError([{ file: file ?? "environment", line: 1, column: 1, message }]);
  }
}

/** Its batch API is slower than the gateway itself and saves nothing real: it is used only if every batch must go to a provider. */
const simulatorSettings = ({ url, key }: SimulatorAccess, batch: boolean): ProviderSettings => {
  return { name: SIMULATOR, kind: SIMULATOR, baseUrl: url, apiKey: new Secret(key), files: true, batch };
};

/**
 * Tells the operator how to connect a provider of a model. Environment variables declare providers only if the configuration
 * declares none.
 */
function missingProvider(
  { publisher, providers }: { publisher: string; providers: readonly string[] },
  declared: boolean,
): string | undefined {
  const kinds = [...PROVIDER_KINDS.values()];
  const serving = kinds.filter(({ kind, publishers }) =>
    providers.length > 0 ? providers.includes(kind) : publishers.includes(publisher),
  );
  const usual = serving.find(({ variables }) => variables !== undefined);
  if (usual?.variables === undefined) return undefined;
  const variables = Object.values(usual.variables).join(" and ");
  return declared
    ? `Add a provider of kind ${usual.kind} under \`providers\` in the configuration, with ${variables}.`
    : `Set ${variables} and restart the gateway, or add a provider of kind ${usual.kind} to the configuration.`;
}
