import { MAX_KEY_LENGTH } from "../base/key-bounds.ts";
import { GatewayError } from "../canon/error.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";
import type { KeySettings, StoredKey } from "../storage/tables/keys.ts";
import type { StoredProject } from "../storage/tables/projects.ts";
import { Discounts, readDiscounts } from "./discounts.ts";
import { hashKey } from "./key-hash.ts";
import type { Level } from "./level.ts";
import { type Limits, readLimits } from "./limits.ts";
import { type PartLimits, patternLevels, readPartLimits } from "./parts/part-limits.ts";
import { makePrincipal, type Principal, principalOf, type Surroundings } from "./principal.ts";

/** A key that is written in the configuration instead of the storage. */
export interface StaticKey extends KeySettings {
  key: string;
  limits?: Limits;
  routing?: RoutingSettings;
  partLimits?: PartLimits;
}

/** Marks a key of the configuration in receipts. */
export const staticKeyId = (name: string): string => `${STATIC}${name}`;
export const isStaticKeyId = (id: string): boolean => id.startsWith(STATIC);
const STATIC = "static:";

/** An issued secret and its key. */
export interface KnownKey {
  readonly principal: Principal;
  /** The key or its parent is revoked. */
  readonly revoked: boolean;
  /** Its project is suspended. */
  readonly suspended: boolean;
  /** When the key or its parent expires. */
  readonly expiresAtMs: number;
  /** Until when a replaced secret works. */
  readonly rotatedOutMs: number;
  readonly isStored: boolean;
}

interface Sources {
  stored: Iterable<StoredKey>;
  projects: Iterable<StoredProject>;
  staticKeys: readonly StaticKey[];
  gateway: Limits;
  gatewayParts?: PartLimits | undefined;
  /** Reports a key that cannot be used; all others can. */
  onProblem: (error: GatewayError) => void;
}

const NEVER = Number.POSITIVE_INFINITY;

/** All keys, built from the storage and the configuration. */
export class KnownKeys {
  readonly #byHash = new Map<string, KnownKey>();
  readonly #byId = new Map<string, KnownKey>();
  readonly #stored: Map<string, StoredKey>;
  readonly #projects: Map<string, StoredProject>;
  readonly #levels = new Map<string, Surroundings["project"]>();
  /** Projects of configured keys. */
  readonly #configured: ReadonlySet<string>;
  readonly #gateway: Limits;
  readonly #gatewayParts: PartLimits | undefined;
  readonly #onProblem: (error: GatewayError) => void;

  constructor(sources: Sources) {
    this.#gateway = sources.gateway;
    this.#gatewayParts = sources.gatewayParts;
    this.#onProblem = sources.onProblem;
    this.#stored = new Map(Array.from(sources.stored, (key) => [key.id, key]));
    this.#projects = new Map(Array.from(sources.projects, (project) => [project.id, project]));
    this.#configured = new Set(sources.staticKeys.map(({ project }) => project));
    checkStaticKeys(sources.staticKeys);
    for (const key of sources.staticKeys) this.#addStatic(key);
    const waiting = new Map(this.#stored);
    const add = (key: StoredKey): void => {
      // Taken out first, so that a key that is its own ancestor never finds a parent.
      waiting.delete(key.id);
      const making = key.madeBy === undefined ? undefined : waiting.get(key.madeBy);
      if (making !== undefined) add(making);
      this.#add(key);
    };
    for (const key of this.#stored.values()) if (waiting.has(key.id)) add(key);
  }

  get byHash(): ReadonlyMap<string, KnownKey> {
    return this.#byHash;
  }

  get byId(): ReadonlyMap<string, KnownKey> {
    return this.#byId;
  }

  get stored(): ReadonlyMap<string, StoredKey> {
    return this.#stored;
  }

  get projects(): ReadonlyMap<string, StoredProject> {
    return this.#projects;
  }

  /** A project that exists, stored or named by a configured key; undefined if there is none of that id. */
  placeOf(project: string): { surroundings: Surroundings; suspended: boolean } | undefined {
    const status = this.#projects.get(project)?.status ?? (this.#configured.has(project) ? "active" : "deleted");
    if (status === "deleted") return undefined;
    return { surroundings: this.#surroundingsOf(project), suspended: status !== "active" };
  }

  /** A project that has no key yet. */
  addProject(project: StoredProject): void {
    this.#projects.set(project.id, project);
  }

  /** Adds a new or changed stored key, and its children with it. */
  put(key: StoredKey, made: ReadonlySet<string> = new Set()): void {
    const before = this.#stored.get(key.id);
    this.#stored.set(key.id, key);
    for (const hash of before === undefined ? [] : [before.hash, before.previousHash]) {
      if (hash !== undefined && this.#byHash.get(hash)?.principal.keyId === key.id) this.#byHash.delete(hash);
    }
    this.#byId.delete(key.id);
    this.#add(key);
    if (before === undefined) return;
    // Ends at keys that name each other as their parent.
    const seen = new Set([...made, key.id]);
    for (const child of this.#stored.values())
      if (child.madeBy === key.id && !seen.has(child.id)) this.put(child, seen);
  }

  #addStatic(key: StaticKey): void {
    const { limits = {}, routing } = key;
    const settings = { ...key, id: staticKeyId(key.name), limits: { ...limits }, routing };
    const principal = makePrincipal(settings, this.#surroundingsOf(key.project));
    const one = { ...this.#known(principal, false), isStored: false };
    this.#byId.set(one.principal.keyId, one);
    this.#byHash.set(hashKey(key.key), one);
  }

  #add(key: StoredKey): void {
    const maker = key.madeBy === undefined ? undefined : this.#byId.get(key.madeBy);
    // A child ends with its parent, including one that is no longer in the configuration.
    const orphaned = key.madeBy !== undefined && maker === undefined;
    try {
      const principal = principalOf(key, this.#surroundingsOf(key.project, maker?.principal));
      const one = this.#known(principal, orphaned || key.revokedAtMs !== undefined, maker);
      this.#byId.set(key.id, one);
      if (!this.#byHash.has(key.hash)) this.#byHash.set(key.hash, one);
      const { previousHash, previousUntilMs = 0 } = key;
      if (previousHash !== undefined && !this.#byHash.has(previousHash)) {
        this.#byHash.set(previousHash, { ...one, rotatedOutMs: previousUntilMs });
      }
    } catch (thrown) {
      // An unknown limit cannot be enforced, so this key does not work; all others do.
      const message = `The stored API key ${key.id} cannot be used here.`;
      this.#onProblem(new GatewayError("internal", message, { cause: thrown }));
    }
  }

  #known(principal: Principal, revoked: boolean, maker?: KnownKey): KnownKey {
    return {
      principal,
      revoked: revoked || maker?.revoked === true,
      suspended: (this.#projects.get(principal.project)?.status ?? "active") !== "active",
      expiresAtMs: Math.min(principal.expiresAtMs ?? NEVER, maker?.expiresAtMs ?? NEVER),
      rotatedOutMs: NEVER,
      isStored: true,
    };
  }

  #surroundingsOf(project: string, maker?: Principal): Surroundings {
    return { maker, project: this.#levelOf(project), gateway: this.#gateway, gatewayParts: this.#gatewayParts };
  }

  #levelOf(id: string): Surroundings["project"] {
    const stored = this.#projects.get(id);
    if (stored === undefined || this.#levels.has(id)) return this.#levels.get(id);
    const { name, limits, discounts, providerObjects, objects, unpriced, answerCache } = stored;
    const level = {
      id,
      name,
      limits: readLimits(limits),
      discounts: discountsOf(discounts),
      providerObjects,
      objects,
      unpriced,
      partLimits: readPartLimits(stored.partLimits),
      answerCache,
    };
    this.#levels.set(id, level);
    return level;
  }
}

function discountsOf(stored: readonly unknown[]): Discounts | undefined {
  return stored.length === 0 ? undefined : new Discounts(readDiscounts(stored));
}

/** Every level that limits a key that is not revoked, and these others, once. */
export function levelsIn({ byId }: KnownKeys, others: Iterable<Level> = []): Level[] {
  const levels = new Map<string, Level>();
  for (const level of others) levels.set(`${level.level} ${level.id}`, level);
  for (const { principal, revoked } of byId.values()) {
    if (revoked) continue;
    const parts = principal.parts ?? [];
    const patterns = parts.flatMap((scope) => [...patternLevels(scope, "model"), ...patternLevels(scope, "tag")]);
    for (const level of [...principal.levels, ...patterns]) levels.set(`${level.level} ${level.id}`, level);
  }
  return [...levels.values()];
}

function checkStaticKeys(keys: readonly StaticKey[]): void {
  const names = new Set<string>();
  const secrets = new Set<string>();
  for (const [index, { name, key }] of keys.entries()) {
    if (key === "" || key.length > MAX_KEY_LENGTH) {
      const message = `The secret of the key "${name}" must have 1 to ${MAX_KEY_LENGTH} characters.`;
      throw new GatewayError("invalid_request", message, { path: `keys[${index}].key` });
    }
    if (names.has(name) || secrets.has(key)) {
      const message = `Duplicate key "${name}": each key needs a unique name and a unique secret.`;
      throw new GatewayError("invalid_request", message, { path: `keys[${index}]` });
    }
    names.add(name);
    secrets.add(key);
  }
}
