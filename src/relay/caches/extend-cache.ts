import type { Principal } from "../../access/principal.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Cache } from "../../objects/caches.ts";
import type { Gateway } from "../gateway.ts";
import { CacheHolder, holderGone, ownId } from "./cache-holder.ts";
import { settleEnd } from "./end-cache.ts";
import { countStorage, storageCost, storageReceipt } from "./storage-bill.ts";

/**
 * Gives a cache another lifetime from now on, and bills its storage so far. Whoever sets the lifetime pays for the storage: a key of the
 * project cannot extend a cache at the expense of another key. Undefined if the provider does not have the cache any more.
 */
export async function extendCache(
  cache: Cache,
  ttlMs: number,
  { principal, requestId }: { principal: Principal; requestId: string },
  gateway: Gateway,
): Promise<Cache | undefined> {
  const { admissions, caches, clock } = gateway;
  const providerId = await caches.providerId(cache);
  const holder = CacheHolder.of(cache, gateway);
  if (holder === undefined || providerId === undefined) throw holderGone(cache);
  const { terms } = cache;
  const isPayer = terms.payer === principal.keyId;
  const heldNanoUsd = isPayer ? storageCost(terms, cache.expiresAtMs - clock.wallMs()) : 0;
  const moreNanoUsd = Math.max(0, storageCost(terms, ttlMs) - heldNanoUsd);
  // Held at once, so that parallel requests cannot extend several caches with the same money (H23).
  const release = moreNanoUsd > 0 ? await admissions.reserve(principal, moreNanoUsd) : () => {};
  try {
    if (!(await holder.extend(cache, providerId, ttlMs))) {
      await settleEnd(cache, gateway, clock.wallMs(), requestId);
      return undefined;
    }
    const nowMs = Math.floor(clock.wallMs());
    const receipt = storageReceipt(cache, nowMs, gateway, requestId);
    const next = {
      ...cache,
      expiresAtMs: Math.floor(nowMs + ttlMs),
      terms: {
        ...terms,
        payer: principal.keyId,
        reservedBy: gateway.instance,
        paidUntilMs: nowMs,
        updatedAtMs: nowMs,
        tags: principal.tags,
      },
    };
    if (!(await caches.change(cache, { next, receipt }))) throw changedMeanwhile(cache);
    countStorage(cache, receipt, gateway);
    caches.hold(next, storageCost(next.terms, ttlMs));
    return next;
  } finally {
    release(0, 0);
  }
}

const changedMeanwhile = (cache: Cache): GatewayError =>
  new GatewayError("overloaded", `The cache ${ownId(cache)} is being changed by another request. Try again.`);
