import { withoutAbsent } from "../base/without-absent.ts";
import { type BillingTable, CACHE_STORAGE, type ToolEntry, type ToolPrice, WEB_SEARCH } from "../canon/billable.ts";
import { LIVE_DIALECT_NAMES } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import type { OfferTraits } from "../canon/offer-traits.ts";
import type { FieldNote } from "../canon/receipt.ts";
import { daysOf, hasCome, pricingsAt, startOf } from "./days.ts";
import {
  type BuiltInModel,
  type Modality,
  type Model,
  type ModelFacts,
  type ModelKind,
  nameOf,
  type Offer,
  type PriceItem,
  type Pricings,
  publisherOf,
} from "./model.ts";
import { nearNames } from "./near-names.ts";
import { storagePriceOf } from "./price-table.ts";
import { entriesFor, ToolPrices, toolCost } from "./tool-prices.ts";
import { builtInSource, NO_UPDATES, type UpdatedModels } from "./updates/apply-updates.ts";
import type { ValueSource } from "./updates/model-patch.ts";
import { VendorNames } from "./vendor-names.ts";

/** The facts about a configured provider that the catalogue needs. */
export interface ProviderSummary {
  name: string;
  /** Publishers, the part of an id before the slash, whose models this provider serves under their own names. */
  publishers: readonly string[];
  /** Models that the provider itself brings. */
  models?: readonly BuiltInModel[];
  /** What its vendor charges for besides ordinary tokens. */
  billing?: BillingTable | undefined;
}

/** The configuration of a model: it overrides the catalogue, or is all that is known. */
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
  quality?: number;
  pricings?: Pricings;
  priceMultiples?: Readonly<Record<string, number>>;
  tools?: readonly ToolPrice[];
  offers?: readonly OfferOverlay[];
}

interface OfferOverlay {
  provider: string;
  model: string;
  pricings?: Pricings;
  tools?: readonly ToolPrice[];
  contextLength?: number;
  maxOutputTokens?: number;
  quality?: number;
  weight?: number;
  retiresOn?: string;
  dialect?: string;
  toolsDialect?: string;
  prefill?: boolean;
  traits?: OfferTraits;
}

interface CatalogueOptions {
  providers: readonly ProviderSummary[];
  models: readonly ModelOverlay[];
  /** The time whose prices and models it has; without it, before the first change. */
  atMs?: number;
  /** The built-in models with the updates that were applied; without it, the built-in models. */
  base?: UpdatedModels;
  /** Only models of these kinds; without it, all. */
  kinds?: ReadonlySet<string>;
  /** The day (YYYY-MM-DD) that stands for the release of models whose own is unknown. */
  since?: string;
  /** Aliases, at both doors. Each refers to an id, which may be pinned. */
  aliases?: Readonly<Record<string, string>>;
  /** How an operator can get an offer for a model: by its publisher, or by the providers of its configured offers. */
  cure?: (missing: { publisher: string; providers: readonly string[] }) => string | undefined;
}

/** How a door reads the names of models. */
export interface Naming {
  /** Accepts a vendor's own name if it is unambiguous. */
  vendorNames: boolean;
  /** The publisher that clients of the protocol add to a name without one. */
  impliedPublisher?: string;
}

export interface Resolved {
  model: Model;
  offers: readonly Offer[];
  /** The name that the client requested, without a pinned provider. */
  calledAs: string;
  /** Notes on parts of the name that are not honoured. */
  notes: readonly FieldNote[];
}

/** A known model without an offer. */
interface Dormant {
  id: string;
  upstreamNames: readonly string[];
  providers: readonly string[];
  /** The day on which its last offer ended, and what its publisher names in its place; absent if it has had none. */
  retired?: { on: string; replacedBy?: string };
}

/**
 * The built-in data, overridden by the configuration. A model is in the catalogue when one of the configured providers offers it.
 * Configured offers replace all others of their model; a model configured without any is offered, like a built-in one, by
 * the providers that serve its publisher, until the publisher retires it. It has the prices and the models of one time; `at` has those of
 * another.
 */
export function buildCatalogue(options: CatalogueOptions): Catalogue {
  const {
    providers,
    models,
    kinds,
    since,
    aliases = {},
    cure,
    base = NO_UPDATES,
    atMs = Number.NEGATIVE_INFINITY,
  } = options;
  const known = new Map<string, BuiltInModel>(base.models.map((model) => [model.id, model]));
  for (const model of providers.flatMap((provider) => provider.models ?? [])) {
    if (!known.has(model.id)) known.set(model.id, model);
  }
  const overlays = new Map(models.map((overlay) => [overlay.id, overlay]));
  for (const overlay of models) {
    const model = known.get(overlay.id);
    known.set(overlay.id, { ...layOver(overlay, model), upstreamModel: model?.upstreamModel ?? nameOf(overlay.id) });
  }
  const billing = new Map(providers.map(({ name, billing: table }) => [name, billed(table)]));
  const billingOf = (provider: string) => billing.get(provider);
  const live: Model[] = [];
  const dormant: Dormant[] = [];
  const days = new Set<string>();
  for (const { upstreamModel, retiresOn, ...own } of known.values()) {
    const facts = { ...withoutAbsent({ created: since }), ...own, pricings: pricingsAt(own.pricings, atMs) };
    const configured = overlays.get(facts.id)?.offers;
    // Where somebody else serves the model, its publisher ends nothing.
    const offers = configured ?? ownOffers({ ...facts, upstreamModel, ...withoutAbsent({ retiresOn }) }, providers);
    const offered = offers.filter((offer) => providers.some((provider) => provider.name === offer.provider));
    const serving = offered.filter((offer) => !hasCome(offer.retiresOn, atMs));
    for (const day of [own.pricings, ...offered.map(({ pricings = {} }) => pricings)].flatMap(daysOf)) days.add(day);
    for (const offer of offered) if (offer.retiresOn !== undefined) days.add(offer.retiresOn);
    const last = lastDay(offered);
    if (serving.length > 0) {
      const made = serving.map((offer) => toOffer(offer, facts, billingOf(offer.provider), atMs));
      live.push({ ...facts, ...withoutAbsent({ retiresOn: last }), offers: made });
    } else {
      const named = configured?.map((offer) => offer.provider) ?? [];
      const retired = last === undefined ? undefined : { on: last, ...withoutAbsent({ replacedBy: facts.replacedBy }) };
      dormant.push({ id: facts.id, upstreamNames: [upstreamModel], providers: named, ...withoutAbsent({ retired }) });
    }
  }
  const served = live.filter((model) => kinds === undefined || kinds.has(model.kind));
  const bounds = [...days].map(startOf).sort((one, other) => one - other);
  return new Catalogue(served, {
    aliases,
    dormant,
    cure: cure ?? (() => undefined),
    base,
    sinceMs: bounds.findLast((ms) => ms <= atMs) ?? Number.NEGATIVE_INFINITY,
    untilMs: bounds.find((ms) => ms > atMs) ?? Number.POSITIVE_INFINITY,
    make: (ms) => buildCatalogue({ ...options, atMs: ms }),
  });
}

/** The day on which the last of these offers ends; undefined if one of them does not end, or there is none. */
function lastDay(offers: readonly OfferOverlay[]): string | undefined {
  const days = offers.map(({ retiresOn }) => retiresOn);
  return days.includes(undefined)
    ? undefined
    : days.reduce((one = "", other = "") => (other > one ? other : one), undefined);
}

function layOver(overlay: ModelOverlay, base: BuiltInModel | undefined): ModelFacts {
  const { offers: _, pricings, ...own } = overlay;
  const all = { ...base?.pricings, ...pricings };
  const outputModalities = overlay.outputModalities ?? base?.outputModalities ?? ["text"];
  return {
    displayName: nameOf(overlay.id),
    inputModalities: ["text"],
    reasoning: false,
    ...base,
    ...own,
    outputModalities,
    kind: base !== undefined && overlay.outputModalities === undefined ? base.kind : kindOf(outputModalities),
    // Price by price: setting one must not make the others free.
    pricings: all,
    ...(pricings !== undefined && isEmpty(all) ? { free: true } : {}),
    ...(pricings?.web_search === undefined ? {} : { setsSearch: true }),
  };
}

function kindOf(outputModalities: readonly Modality[]): ModelKind {
  if (outputModalities.includes("video")) return "video";
  if (outputModalities.includes("embeddings")) return "embedding";
  if (outputModalities.includes("rerank")) return "rerank";
  if (outputModalities.includes("transcription")) return "transcription";
  if (outputModalities.includes("moderation")) return "moderation";
  if (outputModalities.every((modality) => modality === "audio")) return "speech";
  return outputModalities.includes("image") && !outputModalities.includes("text") ? "image" : "text";
}

function ownOffers(
  { id, upstreamModel, dialect: own, retiresOn }: BuiltInModel,
  providers: readonly ProviderSummary[],
): OfferOverlay[] {
  // A model that is only live has no other endpoint, whichever of its publisher's hosts serves it.
  const live = LIVE_DIALECT_NAMES.find((name) => name === own);
  return providers.flatMap((provider) => {
    const brought = provider.models?.find((model) => model.id === id);
    if (brought !== undefined) {
      const { upstreamModel: model, dialect } = brought;
      return [{ provider: provider.name, model, ...withoutAbsent({ dialect, retiresOn }) }];
    }
    if (!provider.publishers.includes(publisherOf(id))) return [];
    return [{ provider: provider.name, model: upstreamModel, ...withoutAbsent({ dialect: live, retiresOn }) }];
  });
}

/** A vendor's table in the form in which offers have it. */
interface Billing {
  table: BillingTable;
  toolPrices: ToolPrices;
  multiples: Readonly<Record<string, number>>;
}

function billed(table: BillingTable | undefined): Billing | undefined {
  if (table === undefined) return undefined;
  const multiples = table.terms.flatMap(({ name, price }) =>
    typeof price === "number" ? [[name, price] as const] : [],
  );
  return { table, toolPrices: new ToolPrices(table.tools), multiples: Object.fromEntries(multiples) };
}

/** What an offer's host charges besides ordinary tokens: what the offer sets, else its model, else the vendor's table. */
function chargesOf(
  { pricings, model, tools: set = [] }: OfferOverlay,
  facts: ModelFacts,
  billing: Billing | undefined,
  atMs: number,
): Pick<Offer, "pricings" | "priceMultiples" | "toolPrices"> {
  const listed = { ...facts.pricings, ...(pricings && pricingsAt(pricings, atMs)) };
  // A price list whose first day is still to come is not an empty one.
  const isFree = isEmpty(listed) && (facts.free === true || (pricings !== undefined && isEmpty(pricings)));
  const all = isFree ? FREE : listed;
  const ofModel = (facts.tools ?? []).filter(({ name }) => !set.some((price) => price.name === name));
  const own = [...set, ...ofModel, ...storagePrice(all)];
  const isSearchSet =
    facts.setsSearch === true || pricings?.web_search !== undefined || own.some(({ name }) => name === WEB_SEARCH);
  const table = billing?.table.tools ?? [];
  // A price that an operator sets holds for every search, however the vendor counts them for the model.
  const rows = entriesFor(isSearchSet ? table.filter((entry) => !isSearchOfModels(entry)) : table, model);
  const toolPrices = own.length === 0 && rows === table ? billing?.toolPrices : new ToolPrices(rows, own);
  const multiples = billing === undefined ? facts.priceMultiples : { ...billing.multiples, ...facts.priceMultiples };
  const searching = searchPrice(all, facts, toolPrices, own);
  return {
    pricings: { ...all, ...searching },
    ...withoutAbsent({ priceMultiples: multiples, toolPrices }),
  };
}

const isSearchOfModels = ({ name, models }: ToolEntry): boolean => models !== undefined && name.startsWith(WEB_SEARCH);

const isEmpty = (pricings: Pricings): boolean => Object.keys(pricings).length === 0;

const nothing = (unit: PriceItem["unit"]): PriceItem[] => [{ value: 0, unit, currency: "USD" }];

/** What an empty price list stands for. Hosted tools are not among it: who serves a model for nothing may charge for them. */
const FREE: Pricings = {
  prompt: nothing("perMTokens"),
  completion: nothing("perMTokens"),
  image: nothing("perCount"),
  video: nothing("perSecond"),
  audio_and_video: nothing("perSecond"),
  audio: nothing("perSecond"),
  characters: nothing("perMCharacters"),
  search_unit: nothing("perCount"),
  cache_storage: nothing("perMTokenHours"),
};

/** Searches have a price in the price list, too: a tool's price holds where that has none, or where it was set. */
function searchPrice(
  pricings: Pricings,
  { kind }: ModelFacts,
  toolPrices: ToolPrices | undefined,
  own: readonly ToolPrice[],
): Pricings {
  const search = kind === "text" ? toolPrices?.find(WEB_SEARCH) : undefined;
  const isSet = own.some(({ name }) => name === WEB_SEARCH);
  if (search === undefined || (pricings.web_search !== undefined && !isSet)) return {};
  return { web_search: [{ value: toolCost(search, 1) / NANO_PER_USD, unit: "perCount", currency: "USD" }] };
}

const NANO_PER_USD = 1_000_000_000;

/** The price list's price of storage, as that of a tool: storage is billed apart from calls, but by the same rules. */
function storagePrice(pricings: Pricings): ToolPrice[] {
  const usd = storagePriceOf(pricings);
  return usd === undefined ? [] : [{ name: CACHE_STORAGE, unit: "mtok_hour", usd }];
}

function toOffer(
  { provider, model, pricings, tools, ...own }: OfferOverlay,
  facts: ModelFacts,
  billing: Billing | undefined,
  atMs: number,
): Offer {
  return {
    provider,
    upstreamModel: model,
    ...withoutAbsent({ contextLength: facts.contextLength, maxOutputTokens: facts.maxOutputTokens }),
    ...own,
    ...chargesOf({ provider, model, ...(pricings && { pricings }), ...(tools && { tools }) }, facts, billing, atMs),
  };
}

interface OtherNames {
  aliases: Readonly<Record<string, string>>;
  dormant: readonly Dormant[];
  cure: NonNullable<CatalogueOptions["cure"]>;
  base: UpdatedModels;
  /** When the time begins whose prices and models it has, and when it ends. */
  sinceMs: number;
  untilMs: number;
  make: (atMs: number) => Catalogue;
}

const EXACT: Naming = { vendorNames: false };
const NO_NOTES: readonly FieldNote[] = [];

/** The models that can be called now. It does not change: new configuration, and a day on which something does, makes a new catalogue. */
export class Catalogue {
  readonly #models: ReadonlyMap<string, Model>;
  readonly #list: readonly Model[];
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #dormant: ReadonlyMap<string, Dormant>;
  readonly #cure: OtherNames["cure"];
  readonly #base: UpdatedModels;
  readonly #times: Pick<OtherNames, "sinceMs" | "untilMs" | "make">;
  #vendorNames: VendorNames | undefined;
  #dormantNames: VendorNames | undefined;

  constructor(models: readonly Model[], { aliases, dormant, cure, base, ...times }: OtherNames) {
    this.#list = models;
    this.#models = new Map(models.map((model) => [model.id, model]));
    this.#aliases = new Map(Object.entries(aliases));
    this.#dormant = new Map(dormant.map((model) => [model.id, model]));
    this.#cure = cure;
    this.#base = base;
    this.#times = times;
  }

  /** The catalogue of another time: of the same configuration and updates. */
  at(ms: number): Catalogue {
    const { sinceMs, untilMs, make } = this.#times;
    return ms >= sinceMs && ms < untilMs ? this : make(ms);
  }

  /** The updates that this catalogue was built with. */
  get updates(): UpdatedModels["updates"] {
    return this.#base.updates;
  }

  /** Where the catalogue has a value from that the configuration does not state. A price is `pricings.<name>`. */
  sourceOf(id: string, field: string): ValueSource | undefined {
    return this.#base.sources.get(id)?.get(field) ?? builtInSource(id);
  }

  get(id: string): Model | undefined {
    return this.#models.get(id);
  }

  /** The models that a host can mean by a name, those that nobody offers after the others. */
  named(name: string): readonly string[] {
    return [this.#liveNames(), this.#namesOfDormant()].flatMap((names) => names.find(name).ids);
  }

  /** When the last offer of a model ends or has ended; undefined where none is known to. */
  endOf(id: string): Dormant["retired"] {
    const model = this.#models.get(id);
    if (model === undefined) return this.#dormant.get(id)?.retired;
    return model.retiresOn === undefined
      ? undefined
      : { on: model.retiresOn, ...withoutAbsent({ replacedBy: model.replacedBy }) };
  }

  list(): readonly Model[] {
    return this.#list;
  }

  /** The other names of a model, as the configuration gives them. */
  aliasesOf(id: string): string[] {
    return [...this.#aliases].filter(([, meant]) => meant === id).map(([alias]) => alias);
  }

  /** The model of that name and its offers; `name:provider` keeps only that provider's. Ids may have colons of their own. */
  resolve(name: string, naming: Naming = EXACT): Resolved {
    const found = this.#find(name, naming);
    if (found !== undefined) return found;
    const colon = name.lastIndexOf(":");
    const unpinned = colon < 0 ? undefined : this.#find(name.slice(0, colon), naming);
    if (unpinned === undefined) throw this.#unknown(name, naming);
    return pin(unpinned, name.slice(colon + 1));
  }

  /** The kind of the model of that name; undefined where there is none. */
  kindOf(name: string, naming: Naming): ModelKind | undefined {
    const colon = name.lastIndexOf(":");
    const found = this.#find(name, naming) ?? (colon < 0 ? undefined : this.#find(name.slice(0, colon), naming));
    return found?.model.kind;
  }

  #find(name: string, naming: Naming): Resolved | undefined {
    const model = this.#models.get(name);
    if (model !== undefined) return { model, offers: model.offers, calledAs: name, notes: NO_NOTES };
    const bare = bareName(name, naming.impliedPublisher);
    const meant = this.#aliases.get(name) ?? (bare === undefined ? undefined : this.#aliases.get(bare));
    // An alias stands for an id: an alias of an alias is a mistake in the configuration.
    if (meant !== undefined) return { ...this.resolve(meant), calledAs: bare ?? name };
    return naming.vendorNames ? this.#findVendors(name, bare) : undefined;
  }

  #findVendors(name: string, bare: string | undefined): Resolved | undefined {
    let match = this.#liveNames().find(name);
    if (match.ids.length === 0 && bare !== undefined) match = this.#liveNames().find(bare);
    const [id, ...others] = match.ids;
    const model = id === undefined ? undefined : this.#models.get(id);
    if (model === undefined) return undefined;
    if (others.length > 0) {
      const message = `${quoted(bare ?? name)} is ambiguous: it can mean ${match.ids.join(" or ")}. Use one of these ids.`;
      throw new GatewayError("not_found", message, { path: "model" });
    }
    const notes = match.dated
      ? [
          {
            path: "model",
            action: "approximated" as const,
            reason: `dated releases are not distinguished: ${model.id} was used`,
          },
        ]
      : NO_NOTES;
    return { model, offers: model.offers, calledAs: bare ?? name, notes };
  }

  #liveNames(): VendorNames {
    this.#vendorNames ??= new VendorNames(
      this.#list.map(({ id, offers }) => ({ id, upstreamNames: offers.map((offer) => offer.upstreamModel) })),
    );
    return this.#vendorNames;
  }

  #namesOfDormant(): VendorNames {
    this.#dormantNames ??= new VendorNames(this.#dormant.values());
    return this.#dormantNames;
  }

  #unknown(name: string, { vendorNames, impliedPublisher }: Naming): GatewayError {
    const colon = name.lastIndexOf(":");
    const unpinned = colon < 0 ? name : name.slice(0, colon);
    const known = this.#dormant.get(name) ?? this.#dormant.get(unpinned);
    if (known !== undefined) return this.#notOffered(known, known.id);
    const near = nearNames(name, this.#models.keys());
    const nearUnpinned = near.length > 0 || colon < 0 ? near : nearNames(unpinned, this.#models.keys());
    // For a model that only lacks its provider the message says so, under whatever name.
    if (vendorNames || nearUnpinned.length === 0) {
      for (const called of new Set([name, unpinned])) {
        const bare = bareName(called, impliedPublisher) ?? called;
        const [id, ...others] = this.#namesOfDormant().find(bare).ids;
        const meant = id === undefined || others.length > 0 ? undefined : this.#dormant.get(id);
        if (meant !== undefined) return this.#notOffered(meant, bare);
      }
    }
    const advice =
      nearUnpinned.length > 0
        ? `Did you mean ${nearUnpinned.join(" or ")}?`
        : "Model ids have the form <provider>/<model_name>. List the models to see which are available.";
    return new GatewayError("not_found", `There is no model ${quoted(name)}. ${advice}`, { path: "model" });
  }

  #notOffered({ id, providers, retired }: Dormant, name: string): GatewayError {
    if (retired !== undefined) {
      const said = name === id ? id : `${quoted(name)} means ${id}, which`;
      const next =
        retired.replacedBy === undefined ? "Choose another model." : `Use ${retired.replacedBy} in its place.`;
      const message = `${said} was retired by its provider on ${retired.on}. ${next}`;
      return new GatewayError("not_found", message, { path: "model" });
    }
    const cure = this.#cure({ publisher: publisherOf(id), providers });
    const said = name === id ? id : `${quoted(name)} means ${id}, which`;
    const message = `${said} is a known model, but none of its providers is configured.${cure === undefined ? "" : ` ${cure}`}`;
    return new GatewayError("not_found", message, { path: "model" });
  }
}

function bareName(name: string, impliedPublisher: string | undefined): string | undefined {
  return impliedPublisher !== undefined && name.startsWith(`${impliedPublisher}/`) ? nameOf(name) : undefined;
}

function pin({ model, offers, calledAs, notes }: Resolved, provider: string): Resolved {
  const pinned = offers.filter((offer) => offer.provider === provider);
  if (pinned.length > 0) return { model, offers: pinned, calledAs, notes };
  const offering = [...new Set(offers.map((offer) => offer.provider))].join(", ");
  throw new GatewayError(
    "not_found",
    `The provider ${quoted(provider)} does not offer ${model.id}. Providers that offer it: ${offering}.`,
    { path: "model" },
  );
}

/** A caller's text, shortened to be shown. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
