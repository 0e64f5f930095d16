import { GatewayError } from "../canon/error.ts";
import type { Model, Offer } from "../catalogue/model.ts";
import type { Provider } from "../providers/provider.ts";
import { originsOf, type Registry } from "../providers/registry.ts";
import {
  type ImageTarget,
  type OfferTargets,
  type Target,
  type TextTarget,
  targetsOf,
  type VideoTarget,
} from "./target.ts";

/** Every target of a configuration. Made once with it, so that no call derives them again. */
export class Targets {
  readonly #byOffer = new Map<Offer, OfferTargets>();

  constructor(models: readonly Model[], providers: ReadonlyMap<string, Provider>, registry: Registry) {
    const spoken = { dialects: registry.dialects, origins: originsOf(registry) };
    for (const model of models) {
      for (const offer of model.offers) {
        const provider = providers.get(offer.provider);
        if (provider) this.#byOffer.set(offer, targetsOf(model, offer, provider, spoken));
      }
    }
  }

  /** Those of conversations with the model, offer by offer in the catalogue's order. */
  text(model: Model, offers: readonly Offer[]): readonly TextTarget[] {
    const [only] = offers;
    const found =
      only !== undefined && offers.length === 1
        ? (this.#byOffer.get(only)?.text ?? [])
        : offers.flatMap((offer) => this.#byOffer.get(offer)?.text ?? []);
    if (found.length > 0) return found;
    const message = `None of the providers of ${model.id} (${namesOf(offers)}) serves it as it is configured.`;
    throw new GatewayError("not_found", message, { path: "model" });
  }

  /** Every target of every offer. */
  *all(): Generator<Target> {
    for (const { text, image, video } of this.#byOffer.values()) {
      yield* text;
      if (image) yield image;
      if (video) yield video;
    }
  }

  images(model: Model, offers: readonly Offer[]): readonly ImageTarget[] {
    return this.#media(model, offers, "image");
  }

  videos(model: Model, offers: readonly Offer[]): readonly VideoTarget[] {
    return this.#media(model, offers, "video");
  }

  #media<Kind extends "image" | "video">(model: Model, offers: readonly Offer[], kind: Kind) {
    const refuse = (message: string) =>
      new GatewayError("invalid_request", message, { path: "model", code: "model_not_supported" });
    if (!model.outputModalities.includes(kind)) {
      const makes = model.outputModalities.join(" and ");
      throw refuse(
        `${model.id} makes ${makes}, not ${kind}s. The model list shows the output_modalities of each model.`,
      );
    }
    const found = offers.flatMap((offer): NonNullable<OfferTargets[Kind]>[] => {
      const target = this.#byOffer.get(offer)?.[kind];
      return target === undefined ? [] : [target];
    });
    if (found.length > 0) return found;
    throw refuse(`None of the providers of ${model.id} (${namesOf(offers)}) makes ${kind}s with it.`);
  }
}

const namesOf = (offers: readonly Offer[]): string => offers.map((offer) => offer.provider).join(", ");
