import { builtInModels } from "./built-in-models.ts";
import type { ModelOverlay } from "./catalogue.ts";
import type { AnyPriceName, Model, Offer, PriceItem } from "./model.ts";

/** Where a value of the catalogue comes from. */
export type Origin = "built-in" | "configuration" | "simulator" | "default";

const BUILT_IN = new Set(builtInModels.map(({ id }) => id));

/** The origin of values that the configuration does not set. */
const baseOrigin = (id: string): Origin =>
  BUILT_IN.has(id) ? "built-in" : id.startsWith("sim/") ? "simulator" : "default";

/** The origin of each value of a model: the configuration if it sets it, else the built-in data. */
export function valueOrigins(model: Model, overlay: ModelOverlay | undefined): Record<string, Origin> {
  const base = baseOrigin(model.id);
  const from = (stated: unknown): Origin => (stated === undefined ? base : "configuration");
  return {
    display_name: from(overlay?.displayName),
    context_length: from(overlay?.contextLength),
    max_output_tokens: from(overlay?.maxOutputTokens),
    input_modalities: from(overlay?.inputModalities),
    output_modalities: from(overlay?.outputModalities),
    reasoning: from(overlay?.reasoning),
    quality: from(overlay?.quality),
    offers: from(overlay?.offers),
  };
}

/** A price that applies to an offer. */
export interface PriceInForce {
  name: AnyPriceName;
  items: readonly PriceItem[];
  origin: Origin;
}

/** The prices of an offer with their origin: set for the offer, set for the model, or built in. */
export function pricesInForce(model: Model, offer: Offer, overlay: ModelOverlay | undefined): PriceInForce[] {
  const stated = overlay?.offers?.find(
    ({ provider, model: upstream }) => provider === offer.provider && upstream === offer.upstreamModel,
  )?.pricings;
  return (Object.keys(offer.pricings) as AnyPriceName[]).map((name) => ({
    name,
    items: offer.pricings[name] ?? [],
    origin:
      stated?.[name] !== undefined || overlay?.pricings?.[name] !== undefined ? "configuration" : baseOrigin(model.id),
  }));
}
