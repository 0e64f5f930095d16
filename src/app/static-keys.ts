import type { KeyRing } from "../access/key-ring.ts";
import type { StaticKey } from "../access/known-keys.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/load.ts";

export function staticKeys(config: Config): StaticKey[] {
  return config.keys.map(({ key, expiresAt, ...rest }) => ({
    ...rest,
    key: key.reveal(),
    ...(expiresAt === undefined ? {} : { expiresAtMs: Date.parse(expiresAt) }),
  }));
}

/** An invalid key is a configuration error; the previous keys stay in effect (H25). */
export function replaceKeysOrExplain(keys: KeyRing, config: Config): void {
  try {
    keys.reconfigure(staticKeys(config), config.limits, config.auth.jwt, config.partLimits);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError([{ file: config.file ?? "trivium.yaml", line: 1, column: 1, message: `keys: ${why}` }]);
  }
}
