import type { RoutingSettings } from "../canon/routing-settings.ts";
import type { StoredKey } from "../storage/keys.ts";
import type { Discounts } from "./discounts.ts";
import { readKeyRouting } from "./key-routing.ts";
import { type Level, levelsOf } from "./level.ts";
import { type Limits, readLimits } from "./limits.ts";

/** Who is calling, and what it may do. */
export interface Principal {
  keyId: string;
  keyName: string;
  project: string;
  /** Globs of model ids; `*` matches any run of characters. */
  models: readonly string[];
  /** Without it, every protocol. */
  protocols?: readonly string[];
  /** The key's own, which the keys that it makes inherit. */
  limits: Limits;
  /** What limits its calls, innermost first: itself, its project, the gateway, where they have limits. */
  levels: readonly Level[];
  /** Calls that cannot be honoured exactly are refused, not approximated. */
  strict?: boolean;
  /** How its calls are served where they do not say otherwise. */
  routing?: RoutingSettings;
  expiresAtMs?: number;
  /** What its project pays less than the listed prices. */
  discounts?: Discounts;
}

/** What surrounds a key: its project, and what limits all of them. */
export interface Surroundings {
  project?: Pick<Level, "id" | "name" | "limits"> | undefined;
  gateway: Limits;
}

const ALONE: Surroundings = { gateway: {} };

/** Throws if the key has a limit or a setting that this program does not know, and so could not enforce. */
export function principalOf(key: Omit<StoredKey, "hash">, { project, gateway }: Surroundings = ALONE): Principal {
  const limits = readLimits(key.limits);
  return {
    keyId: key.id,
    keyName: key.name,
    project: key.project,
    models: key.models,
    ...(key.protocols === undefined ? {} : { protocols: key.protocols as readonly string[] }),
    limits,
    levels: levelsOf({ id: key.id, name: key.name, limits }, project, gateway),
    ...(key.expiresAtMs === undefined ? {} : { expiresAtMs: key.expiresAtMs }),
    ...(key.strict ? { strict: true } : {}),
    ...(key.routing === undefined ? {} : { routing: readKeyRouting(key.routing) }),
  };
}
