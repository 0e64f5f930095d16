import type { Catalogue, ModelOverlay } from "./catalogue.ts";
import type { AnyPriceName, Model, Offer, PriceItem } from "./model.ts";
import { BUILT_IN_NAME } from "./updates/apply-updates.ts";

/** Where a value of the catalogue comes from. */
export type Origin = "built-in" | "update" | "configuration" | "simulator" | "default";

/** A value's origin; `source` and `asOf` where the catalogue or one of its updates has the value. */
export interface Provenance {
  origin: Origin;
  source?: string;
  /** YYYY-MM-DD */
  asOf?: string;
}

type Sources = Pick<Catalogue, "sourceOf">;

/** What a value has without the configuration. */
function provenanceOf(catalogue: Sources, id: string, field: string): Provenance {
  const found = catalogue.sourceOf(id, field);
  if (found === undefined) return { origin: id.startsWith("sim/") ? "simulator" : "default" };
  return { origin: found.source === BUILT_IN_NAME ? "built-in" : "update", ...found };
}

/** Where each fact of a model comes from: one that the configuration states, else the catalogue. */
export function valueOrigins(
  { id }: Model,
  overlay: ModelOverlay | undefined,
  catalogue: Sources,
): Record<string, Provenance> {
  const of = (field: string, stated: unknown): [string, Provenance] => [
    field,
    stated === undefined ? provenanceOf(catalogue, id, field) : { origin: "configuration" },
  ];
  return Object.fromEntries([
    of("display_name", overlay?.displayName),
    of("context_length", overlay?.contextLength),
    of("max_output_tokens", overlay?.maxOutputTokens),
    of("input_modalities", overlay?.inputModalities),
    of("output_modalities", overlay?.outputModalities),
    of("reasoning", overlay?.reasoning),
    of("quality", overlay?.quality),
    of("offers", overlay?.offers),
  ]);
}

/** One price that an offer's calls are billed by. */
export interface PriceInForce extends Provenance {
  name: AnyPriceName;
  items: readonly PriceItem[];
}

/** The prices of an offer, each with where it comes from: stated for the offer, for the model, or in the catalogue. */
export function pricesInForce(
  model: Model,
  offer: Offer,
  overlay: ModelOverlay | undefined,
  catalogue: Sources,
): PriceInForce[] {
  const stated = overlay?.offers?.find(
    ({ provider, model: upstream }) => provider === offer.provider && upstream === offer.upstreamModel,
  )?.pricings;
  return (Object.keys(offer.pricings) as AnyPriceName[]).map((name) => ({
    name,
    items: offer.pricings[name] ?? [],
    ...(stated?.[name] !== undefined || overlay?.pricings?.[name] !== undefined
      ? { origin: "configuration" as const }
      : provenanceOf(catalogue, model.id, `pricings.${name}`)),
  }));
}
