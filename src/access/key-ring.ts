import { MAX_KEY_LENGTH } from "../base/key-bounds.ts";
import type { Sources } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import type { ChangeStamp, Storage } from "../storage/storage.ts";
import { selectChangedEndUserLimits } from "../storage/tables/end-users.ts";
import { type StoredKey, selectChangedKeys, selectKeys, writeLastUsed } from "../storage/tables/keys.ts";
import { type StoredProject, selectChangedProjects, selectProjects } from "../storage/tables/projects.ts";
import type { Actor } from "./audit.ts";
import { ADMIN_SECRET_PREFIX, hashKey, isWellFormedKey, KEY_PREFIX } from "./key-hash.ts";
import { revokeKey } from "./keys.ts";
import { isStaticKeyId, type KnownKey, KnownKeys, levelsIn, type StaticKey } from "./known-keys.ts";
import { type Level, WHOLE_LEVELS } from "./level.ts";
import type { Limits } from "./limits.ts";
import type { EndUserRef } from "./parts/end-users.ts";
import type { PartLimits } from "./parts/part-limits.ts";
import { isSubjectId } from "./people/subject-id.ts";
import { isTokenLike, type Payer, TokenRing } from "./people/token-ring.ts";
import type { TokenIssuerSettings, TokenVerifier } from "./people/verified-token.ts";
import type { Principal } from "./principal.ts";
import { type Caller, checkCallerNetwork } from "./scopes.ts";
import { UnknownKeys } from "./unknown-keys.ts";

interface KeyRingOptions extends Sources {
  storage: Storage;
  staticKeys: readonly StaticKey[];
  /** The limits of all keys together. */
  limits?: Limits;
  /** Checks clients' tokens; absent: none are accepted. */
  verifier?: TokenVerifier;
  /** The limits for parts of the calls of all keys. */
  partLimits?: PartLimits | undefined;
  /** Called when a stored key cannot be used; the others keep working. */
  onProblem?: (error: unknown) => void;
}

/** How late the last use of a key may be written. */
const USED_WRITE_MS = 10_000;

interface StoredRows {
  keys: readonly StoredKey[];
  projects: readonly StoredProject[];
  /** Undefined: any may have changed. */
  endUsers?: readonly EndUserRef[];
}

/** Holds every key in memory by its full digest, so that authentication does not query the storage (H21). */
export class KeyRing {
  readonly #storage: Storage;
  readonly #sources: Sources;
  readonly #onProblem: (error: unknown) => void;
  #static: readonly StaticKey[];
  #limits: Limits;
  #partLimits: PartLimits | undefined;
  #known: KnownKeys;
  /** The change counter when keys were last read; undefined before that. */
  #stamp: number | undefined;
  readonly #unknown: UnknownKeys;
  /** Ids of keys that were revoked here while the storage was not writable, and by whom. */
  readonly #revokedHere = new Map<string, Actor>();
  /** Ids of stored keys used since the last write. */
  readonly #used = new Set<string>();
  #usedWrittenMs: number;
  /** Ids of keys that another process reports as revoked. */
  readonly #revokedElsewhere = new Set<string>();
  /** Clients' tokens that stand for a key. */
  readonly tokens: TokenRing;
  readonly #places = (): KnownKeys => this.#known;
  /** Called with the id of a key that this process revoked. */
  onRevokedHere: (keyId: string) => void = () => {};
  /** Reads what has changed, for requests with a key that is not known here. */
  lookUp: () => Promise<void> = () => this.refresh();
  /** Called when the levels that limit keys may have changed. */
  onLevels: () => void = () => {};

  /** Called with the end users whose own limits have changed; without them if any may have. */
  onEndUsers: (users?: readonly EndUserRef[]) => void = () => {};

  private constructor(options: KeyRingOptions) {
    this.#storage = options.storage;
    this.#sources = options;
    this.#unknown = new UnknownKeys(options.clock);
    this.#usedWrittenMs = options.clock.nowMs();
    this.#onProblem = options.onProblem ?? (() => {});
    this.#static = options.staticKeys;
    this.#limits = options.limits ?? {};
    this.#partLimits = options.partLimits;
    this.#known = this.#make([], [], this.#static, this.#limits, this.#partLimits);
    this.tokens = new TokenRing({ ...options, verifier: options.verifier ?? NO_TOKENS });
  }

  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const ring = new KeyRing(options);
    await ring.refresh();
    return ring;
  }

  /**
   * The principal of a credential: a known key's at once; in a moment a token's, if its signature has not been checked before, and that of a
   * key that another process may have made. A configured key may look like a token.
   */
  identify(presented: string, caller: Caller): Principal | Promise<Principal> {
    const known = this.#find(presented);
    if (known !== undefined) return this.#admit(known, caller);
    if (this.tokens.isConfigured && isTokenLike(presented)) {
      return this.tokens.identify(presented, caller, this.#places);
    }
    const asked = isWellFormedKey(presented) ? this.#unknown.ask(hashKey(presented), this.lookUp) : undefined;
    if (asked === undefined) throw this.#refusalOf(presented);
    return asked.then(() => this.authenticate(presented, caller));
  }

  /** The principal now of a credential that was identified as this one before. Throws if it may not call any more. */
  again(presented: string, principal: Principal, caller: Caller): Principal {
    if (principal.subject === undefined) return this.authenticate(presented, caller);
    if (this.tokens.mayCall(principal, this.#known)) return principal;
    throw new GatewayError("unauthenticated", "The token of this connection has been revoked or has expired.");
  }

  /** Returns the key's principal. No error contains the key itself (S10). */
  authenticate(presented: string, caller: Caller): Principal {
    const known = this.#find(presented);
    if (known === undefined) throw this.#refusalOf(presented);
    return this.#admit(known, caller);
  }

  #find(presented: string): KnownKey | undefined {
    return presented.length > MAX_KEY_LENGTH ? undefined : this.#known.byHash.get(hashKey(presented));
  }

  #admit(known: KnownKey, caller: Caller): Principal {
    const { principal } = known;
    caller.shown = principal;
    if (known.revoked || this.#isRevokedHere(principal)) throw refused("has been revoked");
    this.#checkTime(known);
    if (known.suspended) throw suspended(principal);
    if (principal.networks !== undefined || principal.maker !== undefined) checkCallerNetwork(principal, caller);
    if (known.isStored) this.#used.add(principal.keyId);
    return principal;
  }

  #checkTime({ expiresAtMs, rotatedOutMs }: KnownKey): void {
    if (expiresAtMs === Number.POSITIVE_INFINITY && rotatedOutMs === Number.POSITIVE_INFINITY) return;
    const nowMs = this.#sources.clock.wallMs();
    if (expiresAtMs <= nowMs) throw refused(`expired on ${new Date(expiresAtMs).toISOString()}`);
    if (rotatedOutMs <= nowMs) throw refused(`was replaced by a new one on ${new Date(rotatedOutMs).toISOString()}`);
  }

  #isRevokedHere({ keyId, maker }: Principal): boolean {
    if (this.#revokedHere.size === 0 && this.#revokedElsewhere.size === 0) return false;
    const isRevoked = this.#revokedHere.has(keyId) || this.#revokedElsewhere.has(keyId);
    return isRevoked || (maker !== undefined && this.#isRevokedHere(maker));
  }

  #refusalOf(presented: string): GatewayError {
    if (presented === "") return noKey();
    if (presented.startsWith(ADMIN_SECRET_PREFIX)) return isAdminSecret();
    // Configured keys may have any form: if there are any, a hint at the usual form would mislead.
    const meantMade = presented.startsWith(KEY_PREFIX) || this.#static.length === 0;
    return meantMade && !isWellFormedKey(presented) ? malformed() : refused("is unknown");
  }

  /** Reads the stored keys and projects that have changed, or all of them if the changes are uncertain. */
  async refresh(): Promise<void> {
    await this.read(await this.#storage.changeStamp());
  }

  /** The same up to a stamp that was read before: a key written between the reads is found by the next ones. */
  async read({ keys: stamp }: Pick<ChangeStamp, "keys">): Promise<void> {
    const since = this.#stamp;
    if (stamp === since) return;
    const changes = since === undefined ? undefined : await this.#readChanges(since, stamp);
    const all = changes ?? (await this.#readAll());
    this.#stamp = stamp;
    if (changes === undefined)
      this.#known = this.#make(all.keys, all.projects, this.#static, this.#limits, this.#partLimits);
    else {
      for (const project of changes.projects) this.#known.addProject(project);
      for (const key of changes.keys) this.#known.put(key);
    }
    if (all.endUsers === undefined || all.endUsers.length > 0) this.onEndUsers(all.endUsers);
    for (const { id, revokedAtMs } of all.keys) {
      if (revokedAtMs === undefined) continue;
      this.#revokedHere.delete(id);
      this.#revokedElsewhere.delete(id);
    }
    this.onLevels();
  }

  async #readAll(): Promise<StoredRows> {
    await this.tokens.readRevoked();
    return { keys: await selectKeys(this.#storage), projects: await selectProjects(this.#storage) };
  }

  /**
   * Undefined if these are not all changes: a row has only the number of its last change, and rows of earlier versions
   * have none. A changed project affects all of its keys.
   */
  async #readChanges(since: number, upTo: number): Promise<StoredRows | undefined> {
    const [keys, projects, revoked, limits] = await Promise.all([
      selectChangedKeys(this.#storage, since),
      selectChangedProjects(this.#storage, since),
      this.tokens.readChanges(since),
      selectChangedEndUserLimits(this.#storage, since),
    ]);
    const numbers = new Set([...[...keys, ...projects, ...limits].map(({ changeNumber }) => changeNumber), ...revoked]);
    for (let number = since + 1; number <= upTo; number++) if (!numbers.has(number)) return undefined;
    if (projects.some(({ row }) => this.#known.projects.has(row.id))) return undefined;
    const known = [...this.#known.byId.values()];
    if (projects.length > 0 && known.some(({ principal }) => projects.some(({ row }) => row.id === principal.project)))
      return undefined;
    const endUsers = limits.flatMap(({ row: { level, owner, endUser } }) => {
      const known = WHOLE_LEVELS.find((one) => one === level);
      return known === undefined ? [] : [{ level: known, id: owner, user: endUser }];
    });
    return { keys: keys.map(({ row }) => row), projects: projects.map(({ row }) => row), endUsers };
  }

  #make(
    stored: Iterable<StoredKey>,
    projects: Iterable<StoredProject>,
    staticKeys: readonly StaticKey[],
    gateway: Limits,
    gatewayParts: PartLimits | undefined,
  ): KnownKeys {
    return new KnownKeys({ stored, projects, staticKeys, gateway, gatewayParts, onProblem: this.#onProblem });
  }

  /** The configured keys. */
  get configured(): readonly StaticKey[] {
    return this.#static;
  }

  /** Every level that limits a key that is not revoked, once. */
  levels(): Level[] {
    return levelsIn(this.#known, this.tokens.levels(this.#known));
  }

  /** Whose work it is that was started with a key or a token; undefined if they may not call any more. */
  current(payer: Payer): Principal | undefined {
    const known = this.#known.byId.get(payer.keyId);
    if (known === undefined) return this.tokens.current(payer, this.#known);
    if (known.revoked || known.suspended || this.#isRevokedHere(known.principal)) return undefined;
    return known.expiresAtMs <= this.#sources.clock.wallMs() ? undefined : known.principal;
  }

  /** The same, and finds a key or a subject of tokens that this process has not seen yet. */
  recall(payer: Payer): Promise<Principal | undefined> | Principal | undefined {
    const { keyId } = payer;
    const current = this.current(payer);
    if (current !== undefined) return current;
    if (isSubjectId(keyId)) return this.tokens.recall(payer, this.#places);
    if (isStaticKeyId(keyId) || this.#known.byId.has(keyId)) return undefined;
    return this.lookUp().then(() => this.current(payer));
  }

  /** The key of what was given to its client, such as a signed URL: that ends with the key, and may be used where the key may. */
  async holder(payer: Payer, caller: Caller, what: string): Promise<Principal> {
    const { keyId } = payer;
    const principal = await this.recall(payer);
    if (principal === undefined) {
      const message = `The API key that made this ${what} has been revoked or has expired, or its project is suspended. Make a new one with another key.`;
      throw new GatewayError("unauthenticated", message);
    }
    caller.shown = principal;
    checkCallerNetwork(principal, caller);
    if (this.#known.byId.get(keyId)?.isStored) this.#used.add(keyId);
    return principal;
  }

  /** The key whose work is billed, even if it was revoked meanwhile. */
  ownerOf(keyId: string): Principal | undefined {
    return this.#known.byId.get(keyId)?.principal;
  }

  /** The parent key, whose limits its calls count against as well. */
  makerOf(keyId: string): Principal | undefined {
    return this.#known.byId.get(keyId)?.principal.maker;
  }

  /**
   * Revokes the key and its children in this process at once, whatever happens to the storage (H29). The next
   * successful look writes it for other processes. False if no stored key has this id, and not exactly one has this
   * name.
   */
  revokeHere(idOrName: string, actor: Actor): boolean {
    const valid = [...this.#known.stored.values()].filter(({ revokedAtMs }) => revokedAtMs === undefined);
    const named = valid.filter(({ name }) => name === idOrName);
    const found = valid.find(({ id }) => id === idOrName) ?? (named.length === 1 ? named[0] : undefined);
    if (found === undefined) return false;
    this.#revokedHere.set(found.id, actor);
    this.onRevokedHere(found.id);
    return true;
  }

  /** Another process has revoked it, and will write that when it can. */
  hearRevoked(keyId: string): void {
    this.#revokedElsewhere.add(keyId);
  }

  /** Writes what was revoked and used here. */
  async tend(): Promise<void> {
    // They stay revoked here until the storage has been read again, because it may fail once more before that.
    for (const [id, actor] of this.#revokedHere) await revokeKey(this.#storage, id, this.#sources, actor);
    // The heartbeat reports a storage that takes no writes; the next successful write includes these uses.
    const isDue = this.#sources.clock.nowMs() - this.#usedWrittenMs >= USED_WRITE_MS;
    if (isDue) await this.#writeUsedKeys().catch(() => {});
    await this.tokens.look();
  }

  /** Writes which keys and subjects were used. */
  async writeUsed(): Promise<void> {
    await this.#writeUsedKeys();
    await this.tokens.writeUsed();
  }

  async #writeUsedKeys(): Promise<void> {
    this.#usedWrittenMs = this.#sources.clock.nowMs();
    const ids = [...this.#used];
    this.#used.clear();
    if (ids.length === 0) return;
    try {
      await writeLastUsed(this.#storage, ids, Math.floor(this.#sources.clock.wallMs()));
    } catch (thrown) {
      for (const id of ids) this.#used.add(id);
      throw thrown;
    }
  }

  /** Replaces all configured keys, limits and issuers of tokens at once, or throws and changes nothing. */
  reconfigure(
    keys: readonly StaticKey[],
    limits: Limits,
    issuers: readonly TokenIssuerSettings[] = [],
    partLimits?: PartLimits,
  ): void {
    this.#known = this.#make(this.#known.stored.values(), this.#known.projects.values(), keys, limits, partLimits);
    this.#static = keys;
    this.#limits = limits;
    this.tokens.reconfigure(issuers);
    this.#partLimits = partLimits;
    this.onLevels();
  }
}

const NO_TOKENS: TokenVerifier = {
  isConfigured: false,
  issuers: [],
  termsOf: () => undefined,
  reconfigure: () => {},
  verify: () => Promise.reject(new GatewayError("unauthenticated", "This gateway accepts no tokens.")),
};

const noKey = (): GatewayError =>
  new GatewayError(
    "unauthenticated",
    "No API key was given: send it as `Authorization: Bearer <key>`, or in the key header of your protocol.",
  );

function refused(what: string): GatewayError {
  return new GatewayError("unauthenticated", `This API key ${what}. Ask the operator of this gateway for a valid one.`);
}

const suspended = ({ project }: Principal): GatewayError =>
  new GatewayError("forbidden", `The project "${project}" is suspended, so its keys cannot be used.`, {
    code: "project_suspended",
  });

function malformed(): GatewayError {
  return new GatewayError(
    "unauthenticated",
    `This API key is malformed: expected \`${KEY_PREFIX}\` followed by 43 characters, without spaces or quotes. The operator of this gateway creates keys with \`trivium keys create\`.`,
  );
}

const isAdminSecret = (): GatewayError =>
  new GatewayError(
    "unauthenticated",
    "This is an admin secret, which only works for the Admin API. To call models, send an API key; `trivium keys create` creates one.",
  );
