import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { system } from "../../base/system.ts";
import { secretReferences } from "../../config/variables.ts";
import type { ConfigSource } from "../read-config.ts";

/**
 * Reads the secrets of stores that the configuration refers to. One that cannot be read is a mistake of the configuration, which the
 * next reading of it reports. Without references nothing is loaded.
 */
export async function withSecrets<Source extends ConfigSource>(source: Source): Promise<Source> {
  if (source.secrets !== undefined) return source;
  const references = referencesOf(source);
  if (references.length === 0) return source;
  const { Secrets } = await import("../../secrets/secrets.ts");
  const secrets = new Secrets({ environment: source.environment, clock: system.clock });
  await secrets.refresh(references);
  return { ...source, secrets };
}

/** The secrets that the configuration refers to now. A file that cannot be read is reported by whoever needs it. */
export function referencesOf({ configPath, text, cwd }: ConfigSource): string[] {
  try {
    const file = text ?? readFileSync(resolve(cwd, configPath ?? "trivium.yaml"), "utf8");
    return secretReferences(file.replaceAll(/^\s*#.*$/gm, ""));
  } catch {
    return [];
  }
}
