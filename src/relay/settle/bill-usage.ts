import type { Principal } from "../../access/principal.ts";
import { billableName } from "../../canon/billable.ts";
import { sumUsage, type Usage, type UsagePass, wholeUsage } from "../../canon/usage.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { divideCached } from "../../catalogue/divide-cached.ts";
import { keptPrices } from "../../catalogue/kept-prices.ts";
import { type ModelKind, type Offer, publisherOf } from "../../catalogue/model.ts";
import { type OtherModel, otherModel } from "../../catalogue/other-model.ts";
import { type PriceList, priceCall } from "../../catalogue/price-call.ts";
import type { AttemptRecord, BilledLeg } from "../call.ts";

/** The prices and terms of an attempt. */
export interface BilledBy {
  prices: PriceList;
  /** The provider whose model names a host uses. */
  provider: string | undefined;
  terms: readonly string[];
  /** In basis points, at the prices above. */
  discount: number;
  discounts: Principal["discounts"];
  catalogue: Catalogue;
  /** The model that the answer names, if it is not the one that was asked for. */
  answered: OtherModel | undefined;
}

/** The model that an attempt's answer names, if it is another one than it was sent to (H62). */
export function answeredBy(
  attempt: Pick<AttemptRecord, "target" | "answeredAs"> | undefined,
  catalogue: Catalogue,
): OtherModel | undefined {
  const { target, answeredAs } = attempt ?? {};
  if (target === undefined || answeredAs === undefined) return undefined;
  const { model, offer, provider } = target;
  const atHome = provider.atHome && provider.publishers.includes(publisherOf(model.id));
  return otherModel({ model, offer, atHome }, answeredAs, catalogue);
}

/** The usage of one offer, at its price. */
export function billedLeg(usage: Usage, prices: PriceList, terms: readonly string[], discount: number): BilledLeg {
  const { pricings, priceMultiples, toolPrices } = prices;
  const { costNanoUsd, rule, unpriced } = priceCall(usage, prices, terms, discount);
  const kept = keptPrices({ pricings, priceMultiples, terms, discount, toolPrices }, usage);
  const leg: BilledLeg = { usage, costNanoUsd, priceRule: rule, prices: kept };
  if (unpriced !== undefined) leg.unpriced = [...new Set(unpriced.map(billableName))];
  return leg;
}

/**
 * The bill of one response: the response itself, and each extra pass of the host at the price of that pass's model (H33). A model
 * that is not in the catalogue has the price of the response's model, and is listed among the unknown counters.
 */
export function billUsage(usage: Usage, by: BilledBy): BilledLeg[] {
  const { passes = NO_PASSES, servedBy } = usage;
  const other = servedBy === undefined ? by.answered : undefined;
  if (passes.length === 0 && servedBy === undefined && other === undefined)
    return billParts(usage, by.prices, by.terms, by.discount);
  const { passes: _passes, ...own } = usage;
  const answer =
    other === undefined
      ? billPass({ kind: "fallback_message", usage: wholeUsage(own), ...named(servedBy) }, by)
      : billOther(ANSWERED_BY, wholeUsage(own), other, by);
  return [
    ...answer.map(({ otherModel: _answered, ...leg }) => leg),
    ...passes.flatMap((pass) => billPass({ ...pass, usage: wholeUsage(pass.usage) }, by)),
  ];
}

/** Tokens of a cache that have a price of their own are parts of their own (decision 0131). */
function billParts(usage: Usage, prices: PriceList, terms: readonly string[], discount: number): BilledLeg[] {
  if (usage.cached === undefined) return [billedLeg(usage, prices, terms, discount)];
  return divideCached(usage, prices.pricings).map((part) =>
    billedLeg(part.usage, { ...prices, pricings: part.pricings }, terms, discount),
  );
}

const NO_PASSES: readonly UsagePass[] = [];

const named = (model: string | undefined) => (model === undefined ? {} : { model });

function billPass({ kind, model, usage }: UsagePass, by: BilledBy): BilledLeg[] {
  if (model === undefined) return billParts(usage, by.prices, by.terms, by.discount);
  return billOther(counterOf(kind), usage, findOffer(by.catalogue, by.provider, model), by);
}

/** The name of an answer by a model without a known price among unknown counters. */
const ANSWERED_BY = "answered_by";

function billOther(counter: string, usage: Usage, other: Partial<OtherModel> | undefined, by: BilledBy): BilledLeg[] {
  const { id, offer } = other ?? {};
  if (id === undefined || offer === undefined) {
    const unknown = sumUsage(usage, { unknown: [counter] });
    return [{ ...billedLeg(unknown, by.prices, by.terms, by.discount), otherModel: true }];
  }
  const discount = by.discounts?.of(id, offer.provider) ?? 0;
  return billParts(usage, offer, by.terms, discount).map((leg) => ({ ...leg, otherModel: true }));
}

/** Where responses report a pass: in a list of the usage, or in the item of a tool. */
const counterOf = (kind: string): string => (kind.endsWith("_usage") ? kind : `usage.iterations.${kind}`);

/** Finds an offer by the provider's name of the model. */
export function findOffer(
  catalogue: Catalogue,
  provider: string | undefined,
  upstreamModel: string,
): { id: string; kind: ModelKind; offer: Offer } | undefined {
  for (const { id, kind, offers } of catalogue.list()) {
    const offer = offers.find((one) => one.provider === provider && one.upstreamModel === upstreamModel);
    if (offer !== undefined) return { id, kind, offer };
  }
  return undefined;
}
