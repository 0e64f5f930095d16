import { GatewayError } from "../../canon/error.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import type { ImageWire, VideoWire } from "../../media/media-wire.ts";
import type { Provider } from "../../providers/provider.ts";

export interface MediaOffer<Wire> {
  offer: Offer;
  provider: Provider;
  wire: Wire;
}

type Providers = ReadonlyMap<string, Provider>;

/** The offers to try for images, in the catalogue's order. */
export const planImages = (model: Model, offers: readonly Offer[], providers: Providers): MediaOffer<ImageWire>[] =>
  plan(model, offers, providers, "image", (provider, name) => provider.media?.images(name));

/** The same for films. */
export const planVideos = (model: Model, offers: readonly Offer[], providers: Providers): MediaOffer<VideoWire>[] =>
  plan(model, offers, providers, "video", (provider, name) => provider.media?.videos(name));

function plan<Wire>(
  model: Model,
  offers: readonly Offer[],
  providers: Providers,
  what: "image" | "video",
  wireOf: (provider: Provider, upstreamModel: string) => Wire | undefined,
): MediaOffer<Wire>[] {
  const words = { image: "images", video: "videos" }[what];
  const refuse = (message: string) =>
    new GatewayError("invalid_request", message, { path: "model", code: "model_not_supported" });
  if (!model.outputModalities.includes(what)) {
    const makes = model.outputModalities.join(" and ");
    throw refuse(`${model.id} makes ${makes}, not ${words}. The model list shows the output_modalities of each model.`);
  }
  const found = offers.flatMap((offer) => {
    const provider = providers.get(offer.provider);
    const wire = provider && wireOf(provider, offer.upstreamModel);
    return provider && wire ? [{ offer, provider, wire }] : [];
  });
  if (found.length > 0) return found;
  const names = offers.map((offer) => offer.provider).join(", ");
  throw refuse(`None of the providers of ${model.id} (${names}) makes ${words} with it.`);
}
