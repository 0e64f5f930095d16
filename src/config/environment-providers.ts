import type { ProviderSettings } from "./config.ts";
import type { ProviderFile } from "./schema.ts";
import { toProvider } from "./to-config.ts";

/** The environment variables that make a provider of a kind: the names that the vendors' own tools read. */
export interface KnownVariables {
  kind: string;
  /** Field of the configuration file → variable. */
  variables: Readonly<Record<string, string>>;
}

/** A provider for each kind all of whose variables are set, named after it. Used when no file declares providers. */
export function environmentProviders(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly KnownVariables[],
): ProviderSettings[] {
  const providers = new Map<string, ProviderSettings>();
  for (const { kind, variables } of known) {
    const fields = Object.entries(variables).map(([field, variable]) => [field, environment[variable]] as const);
    if (fields.length === 0 || providers.has(kind) || fields.some(([, value]) => !value)) continue;
    providers.set(kind, toProvider(kind, { kind, ...Object.fromEntries(fields) } as ProviderFile, process.cwd()));
  }
  return [...providers.values()];
}
