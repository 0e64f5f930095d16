import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { Billable } from "../canon/billable.ts";
import { isVisible, type Owned, type Reader } from "../canon/ownership.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { Storage } from "../storage/storage.ts";
import { changeCache, countCaches, selectCaches } from "../storage/tables/caches.ts";
import { selectInstances } from "../storage/tables/instances.ts";
import {
  deleteObject,
  insertObject,
  listObjects,
  type StoredObject,
  selectObjectCopies,
  selectObjects,
} from "../storage/tables/objects.ts";
import type { ObjectOwner } from "./made-once.ts";
import { newObjectRandom, parseObjectId } from "./object-id.ts";

/** Everything about a cache that its row keeps besides its owner. */
export interface CacheTerms {
  /** As the client calls it. */
  name?: string | undefined;
  /** The public id of its model, and its name as the client wrote it. */
  model: string;
  modelAsNamed: string;
  /** Where it is: the provider, its credential (a digest) and the model's name there. */
  provider: string;
  credential: string;
  upstreamModel: string;
  tokens: number;
  /** The provider's counts, as it reports them. */
  counts?: Readonly<Record<string, number>> | undefined;
  /** In US dollars per million tokens and hour when it was created; absent if unknown. */
  usd?: number | undefined;
  /** Of the project, in basis points. */
  discount: number;
  /** The key that pays for the storage: the one that has set the lifetime. */
  payer: string;
  /** The process that holds what the storage may cost, among those that share budgets. */
  reservedBy: string;
  /** The storage before this time is billed. */
  paidUntilMs: number;
  updatedAtMs: number;
  /** What calls that use it may cost besides tokens, because of its tools. */
  billables?: readonly Billable[] | undefined;
  tags?: readonly string[] | undefined;
}

/** A cache of a client, at a provider. */
export interface Cache extends Owned {
  /** The random part of its id. */
  id: string;
  keyId: string;
  /** `creating`: its provider has not answered yet, or the answer was lost. */
  state: "creating" | "active";
  createdAtMs: number;
  expiresAtMs: number;
  terms: CacheTerms;
}

/** A change of a cache, with the provider's id when that becomes known, and the bill for its storage so far. */
interface CacheChange {
  /** Undefined: it has ended. */
  next: Pick<Cache, "state" | "expiresAtMs" | "terms"> | undefined;
  providerId?: string;
  receipt?: Receipt | undefined;
}

/** Releases money that was held, and counts what was spent instead. */
type Release = (actualNanoUsd: number, atMs: number) => void;

interface CachesOptions extends Sources {
  storage: Storage;
  /** Holds money of a key and its project. */
  hold: (owner: { keyId: string; project: string }, costNanoUsd: number) => Release;
}

/** Which caches to list: newest first, after one of them. */
export interface CachePage {
  after?: string | undefined;
  limit: number;
}

const PAGE = 500;

/**
 * Caches that clients have created: whose they are, and at which credential. What their storage may still cost is held from the
 * creation to the end.
 */
export class Caches {
  readonly #options: CachesOptions;
  readonly #held = new Map<string, { release: Release; costNanoUsd: number; payer: string }>();

  constructor(options: CachesOptions) {
    this.#options = options;
  }

  /** Records a cache that a provider is about to create, so that a crash does not lose it. */
  async begin(owner: ObjectOwner, terms: CacheTerms, expiresAtMs: number): Promise<Cache> {
    const { storage, clock, random } = this.#options;
    const { project, keyId, share } = owner;
    const id = newObjectRandom(random);
    const createdAtMs = Math.floor(clock.wallMs());
    const cache = { id, project, keyId, share, state: "creating" as const, createdAtMs, expiresAtMs, terms };
    await insertObject(storage, objectOf(cache));
    return cache;
  }

  /** The provider has not created it. */
  async forget({ id }: Cache): Promise<void> {
    await deleteObject(this.#options.storage, id);
    this.release(id);
  }

  /** False if another request or process has changed it. */
  change(cache: Cache, { next, providerId, receipt }: CacheChange): Promise<boolean> {
    const copy = providerId === undefined ? undefined : { credential: cache.terms.credential, providerId };
    const after = next && { state: next.state, metadata: metadataOf(next.terms), expiresAtMs: next.expiresAtMs };
    return changeCache(this.#options.storage, objectOf(cache), after, { copy, receipt });
  }

  /** Undefined if there is none that the reader may use. */
  async find(reader: Reader, id: string): Promise<Cache | undefined> {
    const cache = await this.owner(id);
    return cache !== undefined && isVisible(cache, reader) ? cache : undefined;
  }

  /** The same for any reader; the caller decides. */
  async owner(id: string): Promise<Cache | undefined> {
    const { storage, clock } = this.#options;
    const named = parseObjectId(id);
    if (named?.kind !== "cache") return undefined;
    const object = (await selectObjects(storage, [named.random], clock.wallMs())).get(named.random);
    return object?.kind === "cache" && object.state === "active" ? cacheOf(object) : undefined;
  }

  /** The id under which its provider knows it. */
  async providerId({ id }: Cache): Promise<string | undefined> {
    const { storage, clock } = this.#options;
    return (await selectObjectCopies(storage, id, clock.wallMs()))[0]?.providerId;
  }

  async list(reader: Reader, { after, limit }: CachePage): Promise<{ caches: Cache[]; hasMore: boolean }> {
    const { storage, clock } = this.#options;
    const from = after === undefined ? undefined : await this.find(reader, after);
    if (after !== undefined && from === undefined) return { caches: [], hasMore: false };
    const page = { kind: "cache" as const, order: "desc" as const, after: from, limit: limit + 1 };
    const found = await listObjects(storage, reader, page, clock.wallMs());
    const caches = found.slice(0, limit).map(cacheOf);
    return { caches: caches.filter(({ state }) => state === "active"), hasMore: found.length > limit };
  }

  count(project: string): Promise<number> {
    return countCaches(this.#options.storage, project);
  }

  /** Every cache of every project, expired ones included. */
  async *all(): AsyncGenerator<Cache> {
    let last: StoredObject | undefined;
    do {
      const page = await selectCaches(this.#options.storage, last, PAGE);
      for (const object of page) yield cacheOf(object);
      last = page.length === PAGE ? page.at(-1) : undefined;
    } while (last !== undefined);
  }

  /** The processes that use this storage. One that has crashed is among them until another one starts. */
  async instances(): Promise<ReadonlySet<string>> {
    return new Set((await selectInstances(this.#options.storage)).map(({ id }) => id));
  }

  /** Holds what its storage may still cost, in place of what was held for it before. */
  hold({ id, project, terms: { payer } }: Cache, costNanoUsd: number): void {
    const held = this.#held.get(id);
    if (held?.costNanoUsd === costNanoUsd && held.payer === payer) return;
    const release = this.#options.hold({ keyId: payer, project }, costNanoUsd);
    held?.release(0, 0);
    this.#held.set(id, { release, costNanoUsd, payer });
  }

  /** Counts what storage has cost, and holds nothing more for this cache. */
  spend({ id, project, terms: { payer } }: Cache, { costNanoUsd, createdAtMs }: Receipt): void {
    const held = this.#held.get(id);
    const release = held?.payer === payer ? held.release : this.#options.hold({ keyId: payer, project }, 0);
    if (held !== undefined && held.release !== release) held.release(0, 0);
    this.#held.delete(id);
    release(costNanoUsd, createdAtMs);
  }

  /** The caches that money is held for. */
  get held(): string[] {
    return [...this.#held.keys()];
  }

  /** Holds nothing more for a cache that has ended in another process, which has counted its cost. */
  release(id: string): void {
    this.#held.get(id)?.release(0, 0);
    this.#held.delete(id);
  }
}

const metadataOf = (terms: CacheTerms): StoredObject["metadata"] => withoutAbsent({ ...terms });

const objectOf = ({ id, project, keyId, share, state, createdAtMs, expiresAtMs, terms }: Cache): StoredObject => ({
  id,
  kind: "cache",
  project,
  keyId,
  share,
  state,
  size: 0,
  metadata: metadataOf(terms),
  createdAtMs,
  expiresAtMs: Math.floor(expiresAtMs),
});

const cacheOf = ({
  id,
  project,
  keyId,
  share,
  state,
  createdAtMs,
  expiresAtMs = 0,
  metadata,
}: StoredObject): Cache => ({
  id,
  project,
  keyId,
  share,
  state: state as Cache["state"],
  createdAtMs,
  expiresAtMs,
  terms: metadata as unknown as CacheTerms,
});
