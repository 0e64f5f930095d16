import type { Cache } from "../../objects/caches.ts";
import type { Gateway } from "../gateway.ts";
import { CacheHolder, holderGone } from "./cache-holder.ts";
import { countStorage, storageReceipt } from "./storage-bill.ts";

/**
 * Deletes a cache at its provider, then here, and bills its storage. Throws if the provider cannot delete it: it is then still stored,
 * and still costs. False if another request was faster.
 */
export async function endCache(cache: Cache, gateway: Gateway, requestId?: string): Promise<boolean> {
  const providerId = await gateway.caches.providerId(cache);
  const holder = CacheHolder.of(cache, gateway);
  if (holder === undefined) throw holderGone(cache);
  if (providerId !== undefined) await holder.remove(cache, providerId);
  return settleEnd(cache, gateway, gateway.clock.wallMs(), requestId);
}

/** Bills the storage of a cache that its provider does not have any more, and forgets the cache. */
export async function settleEnd(
  cache: Cache,
  gateway: Gateway,
  endedAtMs: number,
  requestId?: string,
): Promise<boolean> {
  const receipt = storageReceipt(cache, Math.min(endedAtMs, cache.expiresAtMs), gateway, requestId);
  if (!(await gateway.caches.change(cache, { next: undefined, receipt }))) return false;
  countStorage(cache, receipt, gateway);
  return true;
}
