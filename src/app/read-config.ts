import { system } from "../base/system.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { nearNames } from "../catalogue/near-names.ts";
import { simulatedModels } from "../catalogue/simulated-models.ts";
import { NO_UPDATES, type UpdatedModels } from "../catalogue/updates/apply-updates.ts";
import type { Config, ProviderSettings } from "../config/config.ts";
import {
  type KnownModels,
  type KnownPrices,
  type LoadOptions,
  loadConfig,
  type Overrides,
  type ProviderKind,
} from "../config/load.ts";
import { BUILT_IN } from "../providers/index.ts";
import { hasAddress, type ProviderDeclaration, spokenAt } from "../providers/provider.ts";
import type { Registry } from "../providers/registry.ts";
import type { Secrets } from "../secrets/secrets.ts";

/** Where a configuration comes from: a file, or only the environment. */
export interface ConfigSource {
  configPath?: string;
  /** Read in place of the file, to check a change before it is saved. */
  text?: string;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The dialects and kinds of providers; default: the program's own. */
  registry?: Registry;
  /** Values from the command line, which override the file. */
  overrides?: Overrides;
  /** The sections of the file to read; default: all. */
  sections?: LoadOptions["sections"];
  /** The secrets of stores that it refers to. */
  secrets?: Secrets;
  /** The models that the configuration may name besides its own; default: the built-in ones. */
  catalogue?: UpdatedModels;
}

export function readConfig(options: ConfigSource): Config {
  return loadConfig({
    ...withoutAbsent({ path: options.configPath, text: options.text }),
    cwd: options.cwd,
    environment: options.environment,
    ...withoutAbsent({ overrides: options.overrides, sections: options.sections, secrets: options.secrets }),
    kinds: kindsOf(options.registry ?? BUILT_IN),
    ...knownFrom(options.catalogue ?? NO_UPDATES),
  });
}

const kindsOf = ({ kinds }: Registry): ReadonlyMap<string, ProviderKind> =>
  new Map([...kinds].map(([kind, declaration]) => [kind, toKind(declaration)]));

function knownFrom({ models }: UpdatedModels): { models: KnownModels; prices: KnownPrices } {
  const all = [...models, ...simulatedModels()];
  const ids = new Set(all.map(({ id }) => id));
  const priced = new Set(all.flatMap(({ id, pricings }) => (Object.keys(pricings).length > 0 ? [id] : [])));
  return {
    models: { has: (id) => ids.has(id), near: (id) => nearNames(id, ids)[0] },
    prices: {
      has: (id) => priced.has(id),
      near: (id) => (ids.has(id) ? undefined : nearNames(id, priced)[0]),
    },
  };
}

/** URL and credentials are checked separately, so that a provider that lacks both is reported with both. */
function toKind({ fields, dialects, baseUrl, authenticate }: ProviderDeclaration): ProviderKind {
  return {
    required: fields.required,
    optional: hasAddress(fields) ? [...fields.optional, "home"] : fields.optional,
    dialects: Object.keys(dialects),
    mistakes: (settings) => [
      ...mistakeOf(() => settings.baseUrl ?? baseUrl(settings)),
      ...mistakeOf(() => authenticate(settings, system)),
      ...unspoken(settings, spokenAt(settings.baseUrl, { dialects })),
    ],
  };
}

function unspoken({ dialects = [] }: ProviderSettings, spoken: readonly string[]): string[] {
  return dialects
    .filter((dialect) => !spoken.includes(dialect))
    .map((dialect) => `with a base_url this provider supports only ${spoken.join(" and ")}, not ${dialect}`);
}

function mistakeOf(attempt: () => unknown): string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
