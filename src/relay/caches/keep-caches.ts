import { asGatewayError } from "../../canon/error.ts";
import type { Cache } from "../../objects/caches.ts";
import type { Gateway } from "../gateway.ts";
import { CacheHolder, nameAtProvider, ownId } from "./cache-holder.ts";
import { endCache, settleEnd } from "./end-cache.ts";
import { storageCost } from "./storage-bill.ts";

/** A creation that takes longer than this is not answered any more. */
const CREATING_MS = 15 * 60_000;
/** After this time without success, an expired cache is billed although its provider may still have it. */
const DELETING_MS = 10 * 60_000;
/** How often the gateway checks whether a provider still has a cache. */
const CHECK_MS = 10 * 60_000;

/**
 * Follows caches to their end: those that expired here or at their provider, those whose key may not spend any more, and those whose
 * creation was lost. What the others may still cost is held. Several instances may do so at once: each change is made once.
 */
export class CacheKeeper {
  readonly #gateway: Gateway;
  /** When each cache was last seen at its provider. */
  readonly #checked = new Map<string, number>();
  #isRunning = false;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Holds what caches may still cost. Of processes that share budgets, one holds it: if that has ended, another one. */
  async holdAll(): Promise<Cache[]> {
    const { caches, sharedLimits } = this.#gateway;
    const instances = sharedLimits && (await caches.instances());
    const found: Cache[] = [];
    for await (const read of caches.all()) {
      const cache = instances === undefined ? read : await this.#claim(read, instances);
      found.push(cache);
      const { terms, expiresAtMs } = cache;
      const isHeldHere = instances === undefined || terms.reservedBy === this.#gateway.instance;
      if (!isHeldHere) caches.release(cache.id);
      else caches.hold(cache, storageCost(terms, expiresAtMs - terms.paidUntilMs));
    }
    return found;
  }

  /** Takes over a cache from a process that has ended. */
  async #claim(cache: Cache, instances: ReadonlySet<string>): Promise<Cache> {
    const { caches, instance } = this.#gateway;
    if (instances.has(cache.terms.reservedBy)) return cache;
    const claimed = { ...cache, terms: { ...cache.terms, reservedBy: instance } };
    return (await caches.change(cache, { next: claimed })) ? claimed : cache;
  }

  async run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      const { caches } = this.#gateway;
      // Not those that are created while the others are read.
      const heldBefore = caches.held;
      const found = await this.holdAll();
      const seen = new Set(found.map(({ id }) => id));
      for (const id of heldBefore) if (!seen.has(id)) caches.release(id);
      for (const id of this.#checked.keys()) if (!seen.has(id)) this.#checked.delete(id);
      for (const cache of found) await this.#keep(cache).catch((thrown: unknown) => this.#report(cache, thrown));
    } finally {
      this.#isRunning = false;
    }
  }

  async #keep(cache: Cache): Promise<void> {
    const { clock, keys } = this.#gateway;
    const nowMs = clock.wallMs();
    if (cache.state === "creating") {
      if (nowMs - cache.createdAtMs > CREATING_MS) await this.#recover(cache);
      return;
    }
    if (cache.expiresAtMs <= nowMs) return this.#expire(cache, nowMs);
    if ((await keys.recall({ keyId: cache.terms.payer, project: cache.project })) === undefined) {
      await endCache(cache, this.#gateway);
      return;
    }
    await this.#check(cache, nowMs);
  }

  /** Its provider has deleted it by now, unless the two disagree about its lifetime. */
  async #expire(cache: Cache, nowMs: number): Promise<void> {
    try {
      await endCache(cache, this.#gateway);
    } catch (thrown) {
      const isLast = nowMs - cache.expiresAtMs > DELETING_MS || CacheHolder.of(cache, this.#gateway) === undefined;
      if (!isLast) throw thrown;
      this.#report(cache, thrown);
      await settleEnd(cache, this.#gateway, cache.expiresAtMs);
    }
  }

  /** Deletes a cache whose creation was not answered, if the provider has created it. No client knows its id. */
  async #recover(cache: Cache): Promise<void> {
    const { caches, clock } = this.#gateway;
    const holder = CacheHolder.of(cache, this.#gateway);
    const found = await holder?.find(cache);
    if (holder === undefined || found === undefined) return caches.forget(cache);
    await holder.remove(cache, found.id);
    const { createdAtMs = cache.createdAtMs, tokens = cache.terms.tokens } = found;
    const terms = { ...cache.terms, tokens, paidUntilMs: Math.max(createdAtMs, cache.createdAtMs) };
    const made = { ...cache, terms };
    if (await caches.change(cache, { next: made })) await settleEnd(made, this.#gateway, clock.wallMs());
    this.#gateway.log.warn(
      { cache: ownId(cache), name: nameAtProvider(cache) },
      "deleted a cache whose creation was lost",
    );
  }

  async #check(cache: Cache, nowMs: number): Promise<void> {
    const lastMs = this.#checked.get(cache.id) ?? cache.createdAtMs;
    if (nowMs - lastMs < CHECK_MS) return;
    const providerId = await this.#gateway.caches.providerId(cache);
    const holder = CacheHolder.of(cache, this.#gateway);
    if (holder === undefined || providerId === undefined) return;
    const exists = await holder.exists(cache, providerId);
    this.#checked.set(cache.id, nowMs);
    if (!exists) await settleEnd(cache, this.#gateway, nowMs);
  }

  #report(cache: Cache, thrown: unknown): void {
    const { kind, message } = asGatewayError(thrown);
    const { provider } = cache.terms;
    this.#gateway.log.warn(
      { cache: ownId(cache), provider, kind, reason: message },
      "failed to end or check a cache at its provider",
    );
  }
}
