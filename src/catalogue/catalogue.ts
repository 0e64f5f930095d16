import type { UpstreamDialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import { builtInModels } from "./built-in-models.ts";
import {
  type BuiltInModel,
  type Modality,
  type Model,
  type ModelFacts,
  type ModelKind,
  nameOf,
  type Offer,
  type Pricings,
  publisherOf,
} from "./model.ts";
import { nearNames } from "./near-names.ts";

/** What the catalogue needs to know of a configured provider. */
export interface ProviderSummary {
  name: string;
  /** Publishers, the part of an id before the slash, whose models this provider serves under their own names. */
  publishers: readonly string[];
  /** Models that the provider brings by itself. */
  models?: readonly BuiltInModel[];
}

/** What configuration says about a model: laid over what is known of it, or all that is known. */
export interface ModelOverlay {
  id: string;
  displayName?: string;
  description?: string;
  created?: string;
  contextLength?: number;
  maxOutputTokens?: number;
  inputModalities?: readonly Modality[];
  outputModalities?: readonly Modality[];
  reasoning?: boolean;
  pricings?: Pricings;
  offers?: readonly OfferOverlay[];
}

export interface OfferOverlay {
  provider: string;
  model: string;
  pricings?: Pricings;
  contextLength?: number;
  maxOutputTokens?: number;
  weight?: number;
  dialect?: UpstreamDialectName;
}

export interface CatalogueOptions {
  providers: readonly ProviderSummary[];
  models: readonly ModelOverlay[];
  /** Only models of these kinds; without it, all. */
  kinds?: ReadonlySet<string>;
}

/**
 * Configuration laid over the built-in data. A model is in the catalogue when one of the configured providers offers it.
 * Configured offers replace all others of their model; a model configured without any is offered, like a built-in one, by
 * the providers that serve its publisher.
 */
export function buildCatalogue({ providers, models, kinds }: CatalogueOptions): Catalogue {
  const known = new Map<string, BuiltInModel>(builtInModels.map((model) => [model.id, model]));
  for (const model of providers.flatMap((provider) => provider.models ?? [])) {
    if (!known.has(model.id)) known.set(model.id, model);
  }
  const overlays = new Map(models.map((overlay) => [overlay.id, overlay]));
  for (const overlay of models) {
    const base = known.get(overlay.id);
    known.set(overlay.id, { ...layOver(overlay, base), upstreamModel: base?.upstreamModel ?? nameOf(overlay.id) });
  }
  const live = [...known.values()].map(({ upstreamModel, ...facts }): Model => {
    const offers = overlays.get(facts.id)?.offers ?? ownOffers(facts.id, upstreamModel, providers);
    const offered = offers.filter((offer) => providers.some((provider) => provider.name === offer.provider));
    return { ...facts, offers: offered.map((offer) => toOffer(offer, facts)) };
  });
  const served = (model: Model) => kinds === undefined || kinds.has(model.kind);
  return new Catalogue(live.filter((model) => model.offers.length > 0 && served(model)));
}

function layOver(overlay: ModelOverlay, base: BuiltInModel | undefined): ModelFacts {
  const { offers: _, pricings, ...own } = overlay;
  const outputModalities = overlay.outputModalities ?? base?.outputModalities ?? ["text"];
  return {
    displayName: nameOf(overlay.id),
    inputModalities: ["text"],
    reasoning: false,
    ...base,
    ...own,
    outputModalities,
    kind: base !== undefined && overlay.outputModalities === undefined ? base.kind : kindOf(outputModalities),
    // Name by name: whoever sets one price does not make the others free.
    pricings: { ...base?.pricings, ...pricings },
  };
}

function kindOf(outputModalities: readonly Modality[]): ModelKind {
  if (outputModalities.includes("video")) return "video";
  return outputModalities.includes("image") && !outputModalities.includes("text") ? "image" : "text";
}

function ownOffers(id: string, upstreamModel: string, providers: readonly ProviderSummary[]): OfferOverlay[] {
  return providers.flatMap((provider) => {
    const brought = provider.models?.find((model) => model.id === id);
    if (brought !== undefined) {
      const { upstreamModel: model, dialect } = brought;
      return [{ provider: provider.name, model, ...(dialect === undefined ? {} : { dialect }) }];
    }
    return provider.publishers.includes(publisherOf(id)) ? [{ provider: provider.name, model: upstreamModel }] : [];
  });
}

function toOffer({ provider, model, pricings, ...own }: OfferOverlay, facts: ModelFacts): Offer {
  return {
    provider,
    upstreamModel: model,
    ...(facts.contextLength === undefined ? {} : { contextLength: facts.contextLength }),
    ...(facts.maxOutputTokens === undefined ? {} : { maxOutputTokens: facts.maxOutputTokens }),
    ...own,
    pricings: { ...facts.pricings, ...pricings },
  };
}

/** The models that can be called now. It does not change: new configuration makes a new catalogue. */
export class Catalogue {
  readonly #models: ReadonlyMap<string, Model>;
  readonly #list: readonly Model[];

  constructor(models: readonly Model[]) {
    this.#list = models;
    this.#models = new Map(models.map((model) => [model.id, model]));
  }

  get(id: string): Model | undefined {
    return this.#models.get(id);
  }

  list(): readonly Model[] {
    return this.#list;
  }

  /** The model of that name and its offers; `id:provider` keeps only that provider's. Ids may have colons of their own. */
  resolve(name: string): { model: Model; offers: Offer[] } {
    const model = this.#models.get(name);
    if (model !== undefined) return { model, offers: model.offers };
    const colon = name.lastIndexOf(":");
    const pinned = colon < 0 ? undefined : this.#models.get(name.slice(0, colon));
    if (pinned === undefined) throw this.#unknown(name);
    const provider = name.slice(colon + 1);
    const offers = pinned.offers.filter((offer) => offer.provider === provider);
    if (offers.length > 0) return { model: pinned, offers };
    const offering = [...new Set(pinned.offers.map((offer) => offer.provider))].join(", ");
    throw new GatewayError(
      "not_found",
      `The provider ${quoted(provider)} does not offer ${pinned.id}. Providers that do: ${offering}.`,
      { path: "model" },
    );
  }

  #unknown(name: string): GatewayError {
    if (builtInModels.some((model) => model.id === name)) {
      const message = `${name} is known, but no provider of it is configured here.`;
      return new GatewayError("not_found", message, { path: "model" });
    }
    const colon = name.lastIndexOf(":");
    const near = nearNames(name, this.#models.keys());
    const nearUnpinned = near.length > 0 || colon < 0 ? near : nearNames(name.slice(0, colon), this.#models.keys());
    const advice =
      nearUnpinned.length > 0
        ? `Did you mean ${nearUnpinned.join(" or ")}?`
        : "A model is named <provider>/<model_name>; the model list shows those that can be called.";
    return new GatewayError("not_found", `There is no model ${quoted(name)}. ${advice}`, { path: "model" });
  }
}

/** A caller's text, short enough to be shown. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
