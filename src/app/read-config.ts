import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { PROVIDER_KINDS } from "../providers/index.ts";

/** Where a configuration comes from: a file, or what the environment says alone. */
export interface ConfigSource {
  configPath?: string;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
}

export function readConfig(options: ConfigSource): Config {
  return loadConfig({
    ...(options.configPath === undefined ? {} : { path: options.configPath }),
    cwd: options.cwd,
    environment: options.environment,
    kinds: new Map([...PROVIDER_KINDS].map(([kind, { fields }]) => [kind, fields])),
  });
}
