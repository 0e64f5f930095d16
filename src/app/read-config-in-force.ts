import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/load.ts";
import { storedCatalogue } from "./catalogue/stored-catalogue.ts";
import { type ConfigSource, readConfig } from "./read-config.ts";
import { withSecrets } from "./secrets/with-secrets.ts";

/**
 * Reads a configuration that may name models which only updates of the catalogue know. The storage is read only if the configuration has
 * a problem without them. If it cannot be read either, the problem stays as it was.
 */
export async function readConfigInForce(given: ConfigSource): Promise<Config> {
  const source = await withSecrets(given);
  const first = attempt(source);
  if (!(first instanceof ConfigError) && first.warnings.length === 0) return first;
  const located = first instanceof ConfigError ? attempt({ ...source, sections: ["storage", "data_dir"] }) : first;
  const catalogue = located instanceof ConfigError ? undefined : await storedCatalogue(located).catch(() => undefined);
  if (catalogue !== undefined && catalogue.updates.length > 0) return readConfig({ ...source, catalogue });
  if (first instanceof ConfigError) throw first;
  return first;
}

function attempt(source: ConfigSource): Config | ConfigError {
  try {
    return readConfig(source);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
