import type { Cancel, Clock } from "../base/clock.ts";
import { MAX_KEY_LENGTH } from "../base/key-bounds.ts";
import { GatewayError } from "../canon/error.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";
import { markKeyRevoked, selectKeys } from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
import { ADMIN_SECRET_PREFIX, hashKey, isWellFormedKey, KEY_PREFIX } from "./key-hash.ts";
import { type Level, levelsOf } from "./level.ts";
import { type Limits, readLimits } from "./limits.ts";
import { type Principal, principalOf } from "./principal.ts";

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
}

interface KeyRingOptions {
  storage: Storage;
  staticKeys: readonly StaticKey[];
  clock: Clock;
  /** Called when keys cannot be read; those in memory keep working. */
  onProblem?: (error: unknown) => void;
}

interface KnownKey {
  principal: Principal;
  revoked: boolean;
}

/** How often a running gateway looks for keys that others made or revoked. */
export const KEY_WATCH_MS = 500;

/** Marks a key of the configuration in receipts. */
export const staticKeyId = (name: string): string => `static:${name}`;

/** Every key in memory, by full digest: a call is authenticated without asking the storage (H21). */
export class KeyRing {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #onProblem: (error: unknown) => void;
  #static: ReadonlyMap<string, KnownKey>;
  #stored: ReadonlyMap<string, KnownKey> = new Map();
  #stamp = "";
  /** Counts the refreshes, and the latest whose result is in use: a slow refresh must not undo a later one. */
  #begun = 0;
  #applied = 0;
  /** When the storage was last read, on the monotonic clock. */
  #lookedMs: number;
  #failing = false;
  /** Ids of keys that were revoked here while the storage could not be written. */
  readonly #revokedHere = new Set<string>();
  /** Called when the levels may have changed. */
  onLevels: () => void = () => {};

  private constructor(options: KeyRingOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#lookedMs = options.clock.nowMs();
    this.#onProblem = options.onProblem ?? (() => {});
    this.#static = readStatic(options.staticKeys);
  }

  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const ring = new KeyRing(options);
    await ring.refresh();
    return ring;
  }

  /** The principal of the key. No message contains the key itself (S10). */
  authenticate(presented: string): Principal {
    if (presented === "") {
      throw new GatewayError(
        "unauthenticated",
        "No API key was given: send it as `Authorization: Bearer <key>`, or in the key header of your protocol.",
      );
    }
    if (presented.length > MAX_KEY_LENGTH) throw this.#unknown(presented);
    const hash = hashKey(presented);
    const known = this.#static.get(hash) ?? this.#stored.get(hash);
    if (known === undefined) throw this.#unknown(presented);
    const { principal } = known;
    if (known.revoked || this.#revokedHere.has(principal.keyId)) throw refused("has been revoked");
    if (principal.expiresAtMs !== undefined && principal.expiresAtMs <= this.#clock.wallMs()) {
      throw refused(`expired on ${new Date(principal.expiresAtMs).toISOString()}`);
    }
    return principal;
  }

  #unknown(presented: string): GatewayError {
    if (presented.startsWith(ADMIN_SECRET_PREFIX)) return isAdminSecret();
    // Keys of the configuration may look like anything: if there are any, a hint at the usual form of keys would mislead.
    const meantMade = presented.startsWith(KEY_PREFIX) || this.#static.size === 0;
    return meantMade && !isWellFormedKey(presented) ? malformed() : refused("is not known here");
  }

  /** Reads all stored keys again. */
  async refresh(): Promise<void> {
    this.#begun += 1;
    const turn = this.#begun;
    // The stamp is read first: a key written between the two reads is then found at the next refresh.
    const stamp = await this.#storage.changeStamp();
    const stored = new Map<string, KnownKey>();
    for (const key of await selectKeys(this.#storage)) {
      try {
        stored.set(key.hash, { principal: principalOf(key), revoked: key.revokedAtMs !== undefined });
      } catch (thrown) {
        // An unknown limit cannot be enforced, so this key does not work; all others do.
        const message = `The stored API key ${key.id} cannot be used here.`;
        this.#onProblem(new GatewayError("internal", message, { cause: thrown }));
      }
    }
    if (turn < this.#applied) return;
    this.#applied = turn;
    this.#stored = stored;
    this.#stamp = stamp;
    for (const { principal, revoked } of stored.values()) if (revoked) this.#revokedHere.delete(principal.keyId);
    this.onLevels();
  }

  /** Every level with limits of keys that may be used. */
  levels(): Level[] {
    const levels = new Map<string, Level>();
    for (const keys of [this.#static, this.#stored]) {
      for (const { principal, revoked } of keys.values()) {
        if (!revoked) for (const level of principal.levels) levels.set(`${level.level} ${level.id}`, level);
      }
    }
    return [...levels.values()];
  }

  /** For how long keys made or revoked by other processes could not be read. */
  get blindMs(): number {
    return this.#clock.nowMs() - this.#lookedMs;
  }

  /**
   * Revokes the key in this process at once, whatever happens to the storage (H29). The next successful refresh writes it
   * down for other processes. False if no stored key has this id, and not exactly one has this name.
   */
  revokeHere(idOrName: string): boolean {
    const principals = [...this.#stored.values()].filter(({ revoked }) => !revoked).map(({ principal }) => principal);
    const named = principals.filter(({ keyName }) => keyName === idOrName);
    const found = principals.find(({ keyId }) => keyId === idOrName) ?? (named.length === 1 ? named[0] : undefined);
    if (found === undefined) return false;
    this.#revokedHere.add(found.keyId);
    return true;
  }

  async #look(): Promise<void> {
    // They stay revoked here until the storage has been read again: it may fail once more before that.
    for (const id of this.#revokedHere) await markKeyRevoked(this.#storage, id, this.#clock.wallMs());
    if ((await this.#storage.changeStamp()) !== this.#stamp) await this.refresh();
    this.#lookedMs = this.#clock.nowMs();
    this.#failing = false;
  }

  /** Polls for keys that other processes made or revoked. The returned function ends it. */
  startWatching(intervalMs = KEY_WATCH_MS): () => void {
    let stopped = false;
    let cancel: Cancel = () => {};
    const look = async (): Promise<void> => {
      try {
        await this.#look();
      } catch (thrown) {
        // Reported once, not twice a second while it lasts.
        if (!this.#failing) this.#onProblem(cannotLook(thrown));
        this.#failing = true;
      }
      plan();
    };
    const plan = (): void => {
      if (!stopped) cancel = this.#clock.after(intervalMs, () => void look(), { background: true });
    };
    plan();
    return () => {
      stopped = true;
      cancel();
    };
  }

  /** Replaces all keys of the configuration at once. */
  replaceStatic(keys: readonly StaticKey[]): void {
    this.#static = readStatic(keys);
    this.onLevels();
  }
}

function readStatic(keys: readonly StaticKey[]): ReadonlyMap<string, KnownKey> {
  const known = new Map<string, KnownKey>();
  const names = new Set<string>();
  for (const [index, key] of keys.entries()) {
    if (key.key === "" || key.key.length > MAX_KEY_LENGTH) {
      const message = `The key "${key.name}" must have 1 to ${MAX_KEY_LENGTH} characters.`;
      throw new GatewayError("invalid_request", message, { path: `keys[${index}].key` });
    }
    const hash = hashKey(key.key);
    if (names.has(key.name) || known.has(hash)) {
      const message = `The key "${key.name}" is there twice: each needs its own name and its own key.`;
      throw new GatewayError("invalid_request", message, { path: `keys[${index}]` });
    }
    names.add(key.name);
    const id = staticKeyId(key.name);
    const limits = readLimits({ ...key.limits });
    const principal: Principal = {
      keyId: id,
      keyName: key.name,
      project: key.project,
      models: key.models,
      ...(key.protocols === undefined ? {} : { protocols: key.protocols }),
      limits,
      levels: levelsOf({ id, name: key.name, limits }, undefined, {}),
      ...(key.expiresAtMs === undefined ? {} : { expiresAtMs: key.expiresAtMs }),
      ...(key.strict ? { strict: true } : {}),
      ...(key.routing === undefined ? {} : { routing: key.routing }),
    };
    known.set(hash, { principal, revoked: false });
  }
  return known;
}

function cannotLook(cause: unknown): GatewayError {
  const message = "API keys cannot be refreshed: those in memory stay valid, and what others revoke is not seen.";
  return new GatewayError("internal", message, { cause });
}

function refused(what: string): GatewayError {
  return new GatewayError("unauthenticated", `This API key ${what}. Ask the operator of this gateway for a valid one.`);
}

function malformed(): GatewayError {
  return new GatewayError(
    "unauthenticated",
    `This is not a well-formed API key: \`${KEY_PREFIX}\` and 43 characters, without spaces or quotes, are expected. The operator of this gateway makes one with \`trivium keys create\`.`,
  );
}

const isAdminSecret = (): GatewayError =>
  new GatewayError(
    "unauthenticated",
    "This is an admin secret, which is for the Admin API alone. Models are called with an API key; `trivium keys create` makes one.",
  );
