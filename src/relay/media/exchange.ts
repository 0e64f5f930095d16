import type { MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ProviderMedia } from "../../providers/media-adapters/provider-media.ts";
import type { Provider } from "../../providers/provider.ts";
import { type ExchangeOptions, openExchange, type ProviderExchange, readAnswer } from "../attempt/provider-exchange.ts";

export function mediaOf(provider: Provider): ProviderMedia {
  if (provider.media === undefined) throw new Error(`provider ${provider.name} has no media interface`);
  return provider.media;
}

/** Sends a request to a provider's media API. Resolves when the response headers arrive. */
export const openMedia = (
  provider: Provider,
  request: MediaRequest,
  options: ExchangeOptions,
): Promise<ProviderExchange> => openExchange(mediaOf(provider), request, options);

/** An exchange whose response is read whole. */
export async function exchangeMedia(
  provider: Provider,
  request: MediaRequest,
  options: ExchangeOptions,
): Promise<MediaAnswer> {
  return readAnswer(await openMedia(provider, request, options), options);
}
