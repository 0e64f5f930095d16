import { LONG_CONTEXT } from "../canon/terms.ts";
import { promptTokens, type Usage } from "../canon/usage.ts";
import { discounted, discountWords } from "./discounted.ts";
import type { Pricings } from "./model.ts";
import { type Priced, priceUsage } from "./pricing.ts";

/** Above this a prompt is a long context. */
const LONG_PROMPT = 200_000;

/** Multiples are counted in millionths. */
const MILLION = 1_000_000;

/** What an offer costs, on all terms. */
export interface PriceList {
  pricings: Pricings;
  /** The factor for the ordinary price of tokens on other terms, by the term. */
  priceMultiples?: Readonly<Record<string, number>> | undefined;
}

/**
 * The price of a call on the terms that its answer reports, or else on those that were requested, less its project's discount in
 * basis points. Terms without a known factor cost the ordinary price, and the rule says so.
 */
export function priceCall(usage: Usage, prices: PriceList, terms: readonly string[], discount = 0): Priced {
  const plain = priceUsage(usage, prices.pricings);
  const listed = terms.length === 0 ? plain : priceTerms(usage, plain, prices, terms);
  if (discount === 0) return listed;
  return {
    costNanoUsd: discounted(listed.costNanoUsd, discount),
    rule: `${listed.rule}, ${discountWords(discount)}`,
  };
}

function priceTerms(usage: Usage, plain: Priced, prices: PriceList, terms: readonly string[]): Priced {
  const held = heldTerms(terms, promptTokens(usage));
  if (held.length === 0) return plain;
  const { searches, ...tokens } = usage;
  const { pricings, priceMultiples } = prices;
  const searching = searches === undefined ? 0 : priceUsage({ searches }, pricings).costNanoUsd;
  const words = held.map((term) => {
    const multiple = multipleOf(term, priceMultiples);
    return multiple === undefined ? `${term} unpriced` : `× ${multiple} ${term}`;
  });
  const cost = priceUsage(tokens, pricings).costNanoUsd;
  return {
    costNanoUsd: multiplied(cost, millionthsOf(held, priceMultiples)) + searching,
    rule: [plain.rule, ...words].join(", "),
  };
}

/** By which the cost of tokens is multiplied on these terms: 1 on ordinary ones, and where no factor is known. */
export const multipleOfTerms = (usage: Usage, terms: readonly string[], { priceMultiples }: PriceList): number =>
  millionthsOf(heldTerms(terms, promptTokens(usage)), priceMultiples) / MILLION;

/** Only the prompt makes a long context. */
const heldTerms = (terms: readonly string[], prompt: number): readonly string[] =>
  prompt > LONG_PROMPT ? terms : terms.filter((term) => term !== LONG_CONTEXT);

function multipleOf(term: string, multiples: PriceList["priceMultiples"]): number | undefined {
  return multiples !== undefined && Object.hasOwn(multiples, term) ? multiples[term] : undefined;
}

function millionthsOf(terms: readonly string[], multiples: PriceList["priceMultiples"]): number {
  return Math.round(terms.reduce((product, term) => product * (multipleOf(term, multiples) ?? 1), MILLION));
}

/** A cost times a number of millionths, rounded once. */
function multiplied(cost: number, millionths: number): number {
  const product = cost * millionths;
  if (!Number.isSafeInteger(product)) {
    return Number((BigInt(cost) * BigInt(millionths) + BigInt(MILLION / 2)) / BigInt(MILLION));
  }
  return Math.floor((product + MILLION / 2) / MILLION);
}

/** A cost of tokens alone on these terms, or at the ordinary price where that is more: cheaper terms may not be had. */
export function dearestTerms(
  costNanoUsd: number,
  prompt: number,
  terms: readonly string[],
  { priceMultiples }: Pick<PriceList, "priceMultiples">,
): number {
  if (terms.length === 0) return costNanoUsd;
  return Math.max(costNanoUsd, multiplied(costNanoUsd, millionthsOf(heldTerms(terms, prompt), priceMultiples)));
}
