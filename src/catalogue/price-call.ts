import { LONG_CONTEXT } from "../canon/terms.ts";
import { promptTokens, type Usage } from "../canon/usage.ts";
import type { Pricings } from "./model.ts";
import { type Priced, priceUsage } from "./pricing.ts";

/** Above this a prompt is a long context. */
const LONG_PROMPT = 200_000;

/** What an offer costs, on all terms. */
export interface PriceList {
  pricings: Pricings;
  /** The factor for the ordinary price of tokens on other terms, by the term. */
  priceMultiples?: Readonly<Record<string, number>> | undefined;
}

/**
 * The price of a call on the terms that its answer reports, or else on those that were requested. Terms without a known
 * factor cost the ordinary price, and the rule says so.
 */
export function priceCall(usage: Usage, prices: PriceList, terms: readonly string[]): Priced {
  const plain = priceUsage(usage, prices.pricings);
  return terms.length === 0 ? plain : priceTerms(usage, plain, prices, terms);
}

function priceTerms(
  usage: Usage,
  plain: Priced,
  { pricings, priceMultiples = {} }: PriceList,
  terms: readonly string[],
): Priced {
  // Only the prompt makes a long context.
  const isLong = terms.includes(LONG_CONTEXT) && promptTokens(usage) > LONG_PROMPT;
  const held = isLong ? terms : terms.filter((term) => term !== LONG_CONTEXT);
  if (held.length === 0) return plain;
  const multiples = held.map((term) => (Object.hasOwn(priceMultiples, term) ? priceMultiples[term] : undefined));
  const factor = multiples.reduce<number>((product, multiple) => product * (multiple ?? 1), 1);
  const { searches, ...tokens } = usage;
  const searching = searches === undefined ? 0 : priceUsage({ searches }, pricings).costNanoUsd;
  const words = held.map((term, index) =>
    multiples[index] === undefined ? `${term} unpriced` : `× ${multiples[index]} ${term}`,
  );
  return {
    costNanoUsd: Math.round(priceUsage(tokens, pricings).costNanoUsd * factor) + searching,
    rule: [plain.rule, ...words].join(", "),
  };
}
