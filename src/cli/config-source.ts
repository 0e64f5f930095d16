import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ConfigSource } from "../app/read-config.ts";
import { readEnvFile } from "../config/env-file.ts";
import { UsageError } from "./command.ts";

/**
 * The configuration of a command. Its variables come from the environment and, with lower priority, from the file `.env` next
 * to it. That file only applies to the configuration and does not change this process's environment (S20).
 */
export function configSource(flag: string | undefined): ConfigSource {
  const named = configPath(flag);
  const cwd = process.cwd();
  const file = join(dirname(resolve(cwd, named.configPath ?? "trivium.yaml")), ".env");
  const fromFile = existsSync(file) ? readEnvFile(readFileSync(file, "utf8")) : {};
  return { ...named, cwd, environment: { ...fromFile, ...process.env } };
}

/** `--config` wins over TRIVIUM_CONFIG; without either, ./trivium.yaml is read where it exists. */
function configPath(flag: string | undefined): { configPath?: string } {
  // An unset shell variable: the file that it should have named must not be skipped silently.
  if (flag === "") throw new UsageError("--config is empty. Pass the path of a configuration file.");
  const path = flag ?? process.env["TRIVIUM_CONFIG"];
  return path ? { configPath: path } : {};
}
