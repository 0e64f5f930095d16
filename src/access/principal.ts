import type { RoutingSettings } from "../canon/routing-settings.ts";
import type { StoredKey } from "../storage/keys.ts";
import { type KeyLimits, readLimits } from "./key-limits.ts";
import { readKeyRouting } from "./key-routing.ts";

/** Who is calling, and what it may do. */
export interface Principal {
  keyId: string;
  keyName: string;
  project: string;
  /** Globs of model ids; `*` matches any run of characters. */
  models: readonly string[];
  /** Without it, every protocol. */
  protocols?: readonly string[];
  limits: KeyLimits;
  /** Calls that cannot be honoured exactly are refused, not approximated. */
  strict?: boolean;
  /** How its calls are served where they do not say otherwise. */
  routing?: RoutingSettings;
  expiresAtMs?: number;
}

/** Throws if the key has a limit or a setting that this program does not know, and so could not enforce. */
export function principalOf(key: Omit<StoredKey, "hash">): Principal {
  return {
    keyId: key.id,
    keyName: key.name,
    project: key.project,
    models: key.models,
    ...(key.protocols === undefined ? {} : { protocols: key.protocols as readonly string[] }),
    limits: readLimits(key.limits),
    ...(key.expiresAtMs === undefined ? {} : { expiresAtMs: key.expiresAtMs }),
    ...(key.strict ? { strict: true } : {}),
    ...(key.routing === undefined ? {} : { routing: readKeyRouting(key.routing) }),
  };
}
