import { withoutAbsent } from "../base/without-absent.ts";
import type { Catalogue } from "./catalogue.ts";
import {
  type AnyPriceName,
  type Model,
  type Offer,
  OWN_PRICE_NAMES,
  PRICE_NAMES,
  type PriceItem,
  type Pricings,
} from "./model.ts";
import { unknownPrices } from "./price-table.ts";
import { tierProblems } from "./tier-problems.ts";

/** A possible problem with a price. */
export interface PriceWarning {
  kind: "no-price" | "dearer-offer" | "unlikely-price" | "tiers";
  model: string;
  /** Absent if it concerns all offers of the model. */
  provider?: string;
  price?: AnyPriceName;
  message: string;
}

const ALL_NAMES: readonly AnyPriceName[] = [...PRICE_NAMES, ...OWN_PRICE_NAMES];

/**
 * Finds problems in the prices of available models: no price, an offer that costs more than its model, a price that was
 * probably meant for another unit, and tiers with gaps or overlaps.
 */
export function checkPrices(catalogue: Pick<Catalogue, "list">): PriceWarning[] {
  return catalogue.list().flatMap(checkModel);
}

function checkModel(model: Model): PriceWarning[] {
  const lists = [{ pricings: model.pricings }, ...model.offers.filter((offer) => differs(offer, model))];
  return [
    ...model.offers.flatMap((offer) => unpriced(model, offer)),
    ...model.offers.flatMap((offer) => dearer(model, offer)),
    ...lists.flatMap((list) => oddities(model, list)),
  ];
}

const differs = ({ pricings }: Offer, model: Model): boolean =>
  ALL_NAMES.some((name) => pricings[name] !== model.pricings[name]);

function unpriced(model: Model, offer: Offer): PriceWarning[] {
  const missing = unknownPrices(model.kind, offer);
  if (missing.length === 0) return [];
  const { provider } = offer;
  const message = `${model.id} at ${provider} has no price for ${missing.join(" and ")}, so calls are refused or not billed in full`;
  return [{ kind: "no-price", model: model.id, provider, message }];
}

function dearer(model: Model, { provider, pricings }: Offer): PriceWarning[] {
  return ALL_NAMES.flatMap((name): PriceWarning[] => {
    const listed = highest(model.pricings[name]);
    const asked = highest(pricings[name]);
    if (listed === undefined || asked === undefined || asked <= listed) return [];
    const message = `${model.id} at ${provider}: ${name} costs ${asked}, more than the ${listed} listed for the model`;
    return [{ kind: "dearer-offer", model: model.id, provider, price: name, message }];
  });
}

function highest(items: readonly PriceItem[] | undefined): number | undefined {
  return items === undefined || items.length === 0 ? undefined : Math.max(...items.map(({ value }) => value));
}

/**
 * Plausible prices per unit in US dollars, with a margin. Outside, the figure was probably meant for a thousand or a million.
 */
const LIKELY: Readonly<Record<PriceItem["unit"], readonly [number, number]>> = {
  perMTokens: [0.0005, 2_000],
  perCount: [0.00001, 20],
  perSecond: [0.000001, 20],
  perMCharacters: [0.05, 2_000],
  perMTokenHours: [0.001, 200],
};

function oddities(model: Model, { provider, pricings }: { provider?: string; pricings: Pricings }): PriceWarning[] {
  const at = provider === undefined ? "" : ` at ${provider}`;
  const of = { model: model.id, ...withoutAbsent({ provider }) };
  return ALL_NAMES.flatMap((name): PriceWarning[] => {
    const items = pricings[name] ?? [];
    const unlikely = items.flatMap(({ value, unit }): PriceWarning[] => {
      const [least, most] = LIKELY[unit];
      if (value === 0 || (value >= least && value <= most)) return [];
      const way = value < least ? "low" : "high";
      const message = `${model.id}${at}: ${name} ${value} ${unit} is unlikely ${way}; check the unit`;
      return [{ kind: "unlikely-price", ...of, price: name, message }];
    });
    const tiers = tierProblems(items).map(
      (problem): PriceWarning => ({
        kind: "tiers",
        ...of,
        price: name,
        message: `${model.id}${at}: ${name} ${problem}`,
      }),
    );
    return [...unlikely, ...relations(of, at, pricings, name), ...tiers];
  });
}

/** No vendor's price differs from its prompt price by this factor. */
const FAR = 500;
const RELATED: ReadonlySet<AnyPriceName> = new Set(["completion", "input_cache_read", "input_cache_write"]);

/** Prices of tokens that differ by a factor of about a thousand: one of them was given for another unit. */
function relations(
  of: Pick<PriceWarning, "model" | "provider">,
  at: string,
  pricings: Pricings,
  name: AnyPriceName,
): PriceWarning[] {
  if (!RELATED.has(name)) return [];
  const prompt = highest(pricings.prompt?.filter(({ unit }) => unit === "perMTokens"));
  const other = highest(pricings[name]?.filter(({ unit }) => unit === "perMTokens"));
  if (!prompt || !other || Math.max(prompt / other, other / prompt) < FAR) return [];
  const message = `${of.model}${at}: ${name} ${other} is far from prompt ${prompt}; check the units`;
  return [{ kind: "unlikely-price", ...of, price: name, message }];
}
