import type { Principal } from "../../access/principal.ts";
import { billableName } from "../../canon/billable.ts";
import { sumUsage, type Usage, type UsagePass, wholeUsage } from "../../canon/usage.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { keptPrices } from "../../catalogue/kept-prices.ts";
import type { Offer } from "../../catalogue/model.ts";
import { type PriceList, priceCall } from "../../catalogue/price-call.ts";
import type { BilledLeg } from "../call.ts";

/** What an attempt is billed by. */
export interface BilledBy {
  prices: PriceList;
  /** Whose models a host means by its own names. */
  provider: string | undefined;
  terms: readonly string[];
  /** In basis points, at the prices above. */
  discount: number;
  discounts: Principal["discounts"];
  catalogue: Catalogue;
}

/** What was used of one offer, at its price. */
export function billedLeg(usage: Usage, prices: PriceList, terms: readonly string[], discount: number): BilledLeg {
  const { pricings, priceMultiples, toolPrices } = prices;
  const { costNanoUsd, rule, unpriced } = priceCall(usage, prices, terms, discount);
  const kept = keptPrices({ pricings, priceMultiples, terms, discount, toolPrices }, usage);
  const leg: BilledLeg = { usage, costNanoUsd, priceRule: rule, prices: kept };
  if (unpriced !== undefined) leg.unpriced = [...new Set(unpriced.map(billableName))];
  return leg;
}

/**
 * What one answer is billed as: the answer itself, and each pass that its host ran by itself at the price of the model of that pass
 * (H33). A model that the catalogue does not know has the price of the answer's own, and is among the unknown counters.
 */
export function billUsage(usage: Usage, by: BilledBy): BilledLeg[] {
  const { passes = NO_PASSES, servedBy } = usage;
  if (passes.length === 0 && servedBy === undefined) return [billedLeg(usage, by.prices, by.terms, by.discount)];
  const { passes: _passes, ...own } = usage;
  const { otherModel: _answered, ...answer } = billPass(
    { kind: "fallback_message", usage: wholeUsage(own), ...named(servedBy) },
    by,
  );
  return [answer, ...passes.map((pass) => billPass({ ...pass, usage: wholeUsage(pass.usage) }, by))];
}

const NO_PASSES: readonly UsagePass[] = [];

const named = (model: string | undefined) => (model === undefined ? {} : { model });

function billPass({ kind, model, usage }: UsagePass, by: BilledBy): BilledLeg {
  if (model === undefined) return billedLeg(usage, by.prices, by.terms, by.discount);
  const known = findOffer(by.catalogue, by.provider, model);
  if (known === undefined) {
    const unknown = sumUsage(usage, { unknown: [`usage.iterations.${kind}`] });
    return { ...billedLeg(unknown, by.prices, by.terms, by.discount), otherModel: true };
  }
  const discount = by.discounts?.of(known.id, known.offer.provider) ?? 0;
  return { ...billedLeg(usage, known.offer, by.terms, discount), otherModel: true };
}

/** The offer of a provider that goes by this name at the provider. */
export function findOffer(
  catalogue: Catalogue,
  provider: string | undefined,
  upstreamModel: string,
): { id: string; offer: Offer } | undefined {
  for (const { id, offers } of catalogue.list()) {
    const offer = offers.find((one) => one.provider === provider && one.upstreamModel === upstreamModel);
    if (offer !== undefined) return { id, offer };
  }
  return undefined;
}
