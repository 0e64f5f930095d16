import type { JsonObject } from "../../base/json.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";

/** A cache as its provider describes it. */
export interface ProviderCache {
  /** The provider's id. Clients never see it. */
  id: string;
  /** As the gateway named it, to find it again after a crash. */
  name?: string;
  /** How much it stores; absent if the provider does not report it. */
  tokens?: number;
  createdAtMs?: number;
  /** The provider's other counts, for the client. */
  counts?: Readonly<Record<string, number>>;
}

/** The content of a new cache, and its lifetime. */
export interface NewCache {
  /** In the client's protocol, which is the provider's. */
  content: JsonObject;
  name: string;
  ttlMs: number;
}

/** Caches that clients create and name in later requests: stored by the provider, until they expire there. */
export interface CacheAdapter extends ServiceAdapter {
  create(cache: NewCache, context: AdapterContext): MediaRequest;
  show(id: string): MediaRequest;
  /** From now on. Durations, since the clocks of the gateway and the provider may differ. */
  extend(id: string, ttlMs: number): MediaRequest;
  remove(id: string): MediaRequest;
  /** A page of the caches of the account. */
  list(page: string | undefined, context: AdapterContext): MediaRequest;
  /** Reads the answer to `create`, `show` and `extend`. Throws a GatewayError if it describes no cache. */
  read(answer: MediaAnswer): ProviderCache;
  readList(answer: MediaAnswer): { caches: readonly ProviderCache[]; next?: string };
  /** Whether an error means that there is no such cache. */
  isGone(answer: MediaAnswer): boolean;
}
