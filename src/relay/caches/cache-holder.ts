import { GatewayError } from "../../canon/error.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { Cache } from "../../objects/caches.ts";
import { objectId } from "../../objects/object-id.ts";
import type { Provider } from "../../providers/provider.ts";
import type { ProviderServices } from "../../providers/provider-services.ts";
import type { CacheAdapter, ProviderCache } from "../../services/cache/cache-adapter.ts";
import { isSuccess, openExchange, readAnswer } from "../attempt/provider-exchange.ts";
import { withOwnId } from "../attempt/with-own-id.ts";
import type { Gateway } from "../gateway.ts";

/** Requests about a cache are small and answered at once. */
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** The credential that a cache is stored with, and the requests to its provider about it. */
export class CacheHolder {
  readonly #provider: Provider;
  readonly #services: ProviderServices;
  readonly #adapter: CacheAdapter;
  readonly #gateway: Gateway;
  readonly #context: AdapterContext;

  private constructor(
    provider: Provider,
    services: ProviderServices,
    adapter: CacheAdapter,
    context: AdapterContext,
    gateway: Gateway,
  ) {
    this.#provider = provider;
    this.#services = services;
    this.#adapter = adapter;
    this.#context = context;
    this.#gateway = gateway;
  }

  /** Undefined if the credential is no longer configured. */
  static of({ terms }: Cache, gateway: Gateway): CacheHolder | undefined {
    for (const credentials of gateway.snapshot.providers.values()) {
      for (const provider of credentials) {
        const { services, digest } = provider;
        if (digest !== terms.credential || services === undefined) continue;
        const adapter = services.adapter("caches", terms.upstreamModel);
        const context = services.context(terms.upstreamModel, "");
        if (adapter !== undefined) return new CacheHolder(provider, services, adapter, context, gateway);
      }
    }
    return undefined;
  }

  /** Deletes the cache. One that is gone already is deleted, too. */
  async remove(cache: Cache, providerId: string): Promise<void> {
    await this.#ask(this.#adapter.remove(providerId), cache, providerId);
  }

  /** False if there is no such cache any more. */
  async extend(cache: Cache, providerId: string, ttlMs: number): Promise<boolean> {
    return (await this.#ask(this.#adapter.extend(providerId, ttlMs), cache, providerId)) !== undefined;
  }

  async exists(cache: Cache, providerId: string): Promise<boolean> {
    return (await this.#ask(this.#adapter.show(providerId), cache, providerId)) !== undefined;
  }

  /** Looks for a cache whose creation was not answered, by the name that the gateway gave it. */
  async find(cache: Cache): Promise<ProviderCache | undefined> {
    const name = nameAtProvider(cache);
    let page: string | undefined;
    do {
      const answer = await this.#ask(this.#adapter.list(page, this.#context), cache, "");
      if (answer === undefined) return undefined;
      const { caches, next } = this.#adapter.readList(answer);
      const found = caches.find((one) => one.name === name);
      if (found !== undefined) return found;
      page = next;
    } while (page !== undefined);
    return undefined;
  }

  /** Undefined if the cache is gone. Errors name the client's id of the cache, never the provider's. */
  async #ask(request: MediaRequest, cache: Cache, providerId: string): Promise<MediaAnswer | undefined> {
    const { clock, send } = this.#gateway;
    const options = { clock, send, signal: new AbortController().signal, timeoutMs: TIMEOUT_MS, mayRepeat: true };
    try {
      const exchange = await openExchange(this.#services, request, options);
      const answer = await readAnswer(exchange, this.#gateway, { maxBytes: MAX_ANSWER_BYTES });
      if (isSuccess(answer)) return answer;
      if (this.#adapter.isGone(answer)) return undefined;
      throw this.#adapter.error(answer).withFailure({ status: answer.status });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      throw this.#provider.redactError(withOwnId(thrown, { own: ownId(cache), provider: providerId }));
    }
  }
}

/** The id that clients use. */
export const ownId = ({ id }: Pick<Cache, "id">): string => objectId("cache", "genai", id);

/** The gateway's name for a cache at its provider. */
export const nameAtProvider = ({ id }: Pick<Cache, "id">): string => `trivium-${id}`;

/** For requests that only the credential could serve. */
export const holderGone = (cache: Cache): GatewayError =>
  new GatewayError(
    "upstream_credentials",
    `The cache ${ownId(cache)} is stored with a credential that is no longer configured. It ends when it expires.`,
  );
