import type { Config, ProviderSettings } from "../config/config.ts";
import { environmentProviders } from "../config/environment-providers.ts";
import { PROVIDER_KINDS } from "../providers/index.ts";
import type { ConfigSource } from "./read-config.ts";

const known = [...PROVIDER_KINDS.values()].flatMap(({ kind, variables }) => (variables ? [{ kind, variables }] : []));

/** The providers of the file; those of the environment if it declares none. */
export const configuredProviders = (
  { providers }: Pick<Config, "providers">,
  environment: ConfigSource["environment"],
): readonly ProviderSettings[] => providers ?? environmentProviders(environment, known);

/** A provider that is missing because its variables are not set. */
export interface MissingProvider {
  kind: string;
  /** The variables that are not set. */
  variables: readonly string[];
}

/** If the configuration declares providers, none are missing. */
export function missingProviders(
  { providers }: Pick<Config, "providers">,
  environment: ConfigSource["environment"],
): MissingProvider[] {
  if (providers !== undefined) return [];
  return known.flatMap(({ kind, variables }) => {
    const unset = Object.values(variables).filter((variable) => !environment[variable]?.trim());
    return unset.length > 0 ? [{ kind, variables: unset }] : [];
  });
}
