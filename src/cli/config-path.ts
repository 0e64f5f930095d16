import { UsageError } from "./command.ts";

/** `--config` wins over TRIVIUM_CONFIG; without either, ./trivium.yaml is read where it exists. */
export function configPath(flag: string | undefined): { configPath?: string } {
  // An unset shell variable: the file that it should have named must not be skipped silently.
  if (flag === "") throw new UsageError("--config is empty. Pass the path of a configuration file.");
  const path = flag ?? process.env["TRIVIUM_CONFIG"];
  return path ? { configPath: path } : {};
}
