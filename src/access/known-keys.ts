import { MAX_KEY_LENGTH } from "../base/key-bounds.ts";
import { GatewayError } from "../canon/error.ts";
import type { Sharing } from "../canon/ownership.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";
import type { StoredKey } from "../storage/keys.ts";
import type { StoredProject } from "../storage/projects.ts";
import { Discounts, readDiscounts } from "./discounts.ts";
import { hashKey } from "./key-hash.ts";
import type { Level } from "./level.ts";
import { type Limits, readLimits } from "./limits.ts";
import { makePrincipal, type Principal, principalOf, type Surroundings } from "./principal.ts";

/** A key that is written in the configuration instead of the storage. */
export interface StaticKey {
  name: string;
  project: string;
  key: string;
  models: readonly string[];
  protocols?: readonly string[];
  expiresAtMs?: number;
  limits?: Limits;
  strict?: boolean;
  routing?: RoutingSettings;
  networks?: readonly string[];
  scopes?: readonly string[];
  tags?: readonly string[];
  capture?: boolean;
  providerObjects?: boolean;
  objects?: Sharing;
}

/** Marks a key of the configuration in receipts. */
export const staticKeyId = (name: string): string => `static:${name}`;

/** A secret that was given out, and what it opens. */
export interface KnownKey {
  readonly principal: Principal;
  /** It, or the key that made it. */
  readonly revoked: boolean;
  /** Its project takes no calls. */
  readonly suspended: boolean;
  /** When it, or the key that made it, expires. */
  readonly expiresAtMs: number;
  /** Until when a secret works that was replaced. */
  readonly rotatedOutMs: number;
  readonly isStored: boolean;
}

/** What is known of all keys, made from what is stored and configured. */
export interface KnownKeys {
  readonly byHash: ReadonlyMap<string, KnownKey>;
  readonly byId: ReadonlyMap<string, KnownKey>;
}

interface Sources {
  stored: readonly StoredKey[];
  projects: readonly StoredProject[];
  staticKeys: readonly StaticKey[];
  gateway: Limits;
  /** Of a key that cannot be used here; all others can. */
  onProblem: (error: GatewayError) => void;
}

const NEVER = Number.POSITIVE_INFINITY;

export function makeKnownKeys(sources: Sources): KnownKeys {
  const byHash = new Map<string, KnownKey>();
  const byId = new Map<string, KnownKey>();
  const projects = new Map(sources.projects.map((project) => [project.id, project]));
  const levels = new Map<string, Surroundings["project"]>();
  const levelOf = (id: string): Surroundings["project"] => {
    const stored = projects.get(id);
    if (stored === undefined || levels.has(id)) return levels.get(id);
    const { name, limits, discounts, providerObjects, objects } = stored;
    const level = { id, name, limits: readLimits(limits), discounts: discountsOf(discounts), providerObjects, objects };
    levels.set(id, level);
    return level;
  };
  const surroundingsOf = (project: string, maker?: Principal): Surroundings => {
    return { maker, project: levelOf(project), gateway: sources.gateway };
  };
  const isSuspended = (project: string) => (projects.get(project)?.status ?? "active") !== "active";

  const known = (principal: Principal, revoked: boolean, maker?: KnownKey): KnownKey => ({
    principal,
    revoked: revoked || maker?.revoked === true,
    suspended: isSuspended(principal.project),
    expiresAtMs: Math.min(principal.expiresAtMs ?? NEVER, maker?.expiresAtMs ?? NEVER),
    rotatedOutMs: NEVER,
    isStored: true,
  });

  checkStaticKeys(sources.staticKeys);
  for (const key of sources.staticKeys) {
    const { limits = {}, routing } = key;
    const settings = { ...key, id: staticKeyId(key.name), limits: { ...limits }, routing };
    const one = { ...known(makePrincipal(settings, surroundingsOf(key.project)), false), isStored: false };
    byId.set(one.principal.keyId, one);
    byHash.set(hashKey(key.key), one);
  }

  const waiting = new Map(sources.stored.map((key) => [key.id, key]));
  const add = (key: StoredKey): void => {
    // Taken out first: a key that is its own ancestor has a maker that is never found.
    waiting.delete(key.id);
    const making = key.madeBy === undefined ? undefined : waiting.get(key.madeBy);
    if (making !== undefined) add(making);
    const maker = key.madeBy === undefined ? undefined : byId.get(key.madeBy);
    // What a key made ends with it, also where it is in no configuration any more.
    const orphaned = key.madeBy !== undefined && maker === undefined;
    try {
      const principal = principalOf(key, surroundingsOf(key.project, maker?.principal));
      const one = known(principal, orphaned || key.revokedAtMs !== undefined, maker);
      byId.set(key.id, one);
      if (!byHash.has(key.hash)) byHash.set(key.hash, one);
      const { previousHash, previousUntilMs = 0 } = key;
      if (previousHash !== undefined && !byHash.has(previousHash)) {
        byHash.set(previousHash, { ...one, rotatedOutMs: previousUntilMs });
      }
    } catch (thrown) {
      // An unknown limit cannot be enforced, so this key does not work; all others do.
      const message = `The stored API key ${key.id} cannot be used here.`;
      sources.onProblem(new GatewayError("internal", message, { cause: thrown }));
    }
  };
  for (const key of sources.stored) if (waiting.has(key.id)) add(key);
  return { byHash, byId };
}

function discountsOf(stored: readonly unknown[]): Discounts | undefined {
  return stored.length === 0 ? undefined : new Discounts(readDiscounts(stored));
}

/** Every level that limits a key which is not revoked, once. */
export function levelsIn({ byId }: KnownKeys): Level[] {
  const levels = new Map<string, Level>();
  for (const { principal, revoked } of byId.values()) {
    if (revoked) continue;
    for (const level of principal.levels) levels.set(`${level.level} ${level.id}`, level);
  }
  return [...levels.values()];
}

function checkStaticKeys(keys: readonly StaticKey[]): void {
  const names = new Set<string>();
  const secrets = new Set<string>();
  for (const [index, { name, key }] of keys.entries()) {
    if (key === "" || key.length > MAX_KEY_LENGTH) {
      const message = `The key "${name}" must have 1 to ${MAX_KEY_LENGTH} characters.`;
      throw new GatewayError("invalid_request", message, { path: `keys[${index}].key` });
    }
    if (names.has(name) || secrets.has(key)) {
      const message = `The key "${name}" is there twice: each needs its own name and its own key.`;
      throw new GatewayError("invalid_request", message, { path: `keys[${index}]` });
    }
    names.add(name);
    secrets.add(key);
  }
}
