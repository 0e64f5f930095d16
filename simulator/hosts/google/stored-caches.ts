import { googleError, invalid } from "./text/errors.ts";

/** A cache, without its content: only its size is needed again. */
export interface StoredCache {
  name: string;
  /** The key or the cloud project that it belongs to. */
  owner: string;
  model: string;
  displayName: string | undefined;
  tokens: number;
  createdAtMs: number;
  updatedAtMs: number;
  expiresAtMs: number;
}

/** The least recently created go first. */
const MAX_CACHES = 1_000;
/** The assumed size of a cache that the simulator has not created. */
const ASSUMED_TOKENS = 1_024;
const CREATED_HERE = /(?:^|\/)cachedContents\/sim[0-9a-f]+$/;

/** Whose caches a call sees: those of its cloud project, or of its key. */
export const ownerOf = (path: string, key: string): string => /\/projects\/([^/]+)\//.exec(path)?.[1] ?? key;

export class StoredCaches {
  readonly #caches = new Map<string, StoredCache>();
  readonly nowMs: () => number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  add(cache: Omit<StoredCache, "name" | "createdAtMs" | "updatedAtMs">, scope: string): StoredCache {
    const nowMs = this.nowMs();
    const id = `sim${Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex")}`;
    const stored = { ...cache, name: `${scope}cachedContents/${id}`, createdAtMs: nowMs, updatedAtMs: nowMs };
    this.#caches.set(stored.name, stored);
    for (const oldest of this.#caches.keys()) {
      if (this.#caches.size <= MAX_CACHES) break;
      this.#caches.delete(oldest);
    }
    return stored;
  }

  /** Throws for one that has expired, or that another account has: this host does not distinguish them. */
  get(name: string, owner: string): StoredCache {
    const cache = this.#caches.get(name);
    if (cache !== undefined && cache.owner === owner && cache.expiresAtMs > this.nowMs()) return cache;
    throw googleError(403, "PERMISSION_DENIED", `CachedContent not found (or permission denied): ${name}`);
  }

  remove({ name }: StoredCache): void {
    this.#caches.delete(name);
  }

  of(owner: string): StoredCache[] {
    return [...this.#caches.values()].filter((one) => one.owner === owner && one.expiresAtMs > this.nowMs());
  }

  /** What a request that names a cache reads in addition. */
  tokensFor({ url, key, modelName }: { url: URL; key: string; modelName: string }, name: string): number {
    if (!CREATED_HERE.test(name)) return ASSUMED_TOKENS;
    const { model, tokens } = this.get(name, ownerOf(url.pathname, key));
    if (model.split("/").at(-1) === modelName) return tokens;
    throw invalid(
      `Model used by GenerateContent request (models/${modelName}) and CachedContent (${model}) has to be the same.`,
    );
  }
}
