import { LONG_CONTEXT } from "../canon/terms.ts";
import { promptTokens, type Usage } from "../canon/usage.ts";
import { discounted, discountWords } from "./discounted.ts";
import type { Pricings } from "./model.ts";
import { type Priced, priceUsage } from "./pricing.ts";
import { NO_TOOL_PRICES, priceTools, type ToolPrices } from "./tool-prices.ts";

/** Above this a prompt is a long context. */
const LONG_PROMPT = 200_000;

/** Multiples are counted in millionths. */
const MILLION = 1_000_000;

/** What an offer costs, on all terms. */
export interface PriceList {
  pricings: Pricings;
  /** The factor for token prices, by special term. */
  priceMultiples?: Readonly<Record<string, number>> | undefined;
  /** Prices of hosted tools. */
  toolPrices?: ToolPrices | undefined;
}

/**
 * The price of a call on the terms that its answer reports, or else on those that were requested, less its project's discount in
 * basis points. Terms without a known factor cost the ordinary price, and the rule says so.
 */
export function priceCall(usage: Usage, prices: PriceList, terms: readonly string[], discount = 0): Priced {
  const plain = priceUsage(usage, prices.pricings);
  const onTerms = terms.length === 0 ? plain : priceTerms(usage, plain, prices, terms);
  const isPlain = usage.tools === undefined && usage.unknown === undefined;
  const listed = isPlain ? onTerms : withTools(usage, onTerms, prices);
  if (discount === 0) return listed;
  return {
    ...listed,
    costNanoUsd: discounted(listed.costNanoUsd, discount),
    rule: `${listed.rule}, ${discountWords(discount)}`,
  };
}

/** The bill including hosted tools, with the names of unknown counters. */
function withTools(usage: Usage, plain: Priced, { toolPrices = NO_TOOL_PRICES }: PriceList): Priced {
  const priced = priceTools(usage.tools, toolPrices);
  // A counter without a table has no amount to bill: the configuration can only declare it free.
  const counters = (usage.unknown ?? []).filter((name) => toolPrices.find(name)?.charges.length !== 0);
  const missing = [...priced.unpriced, ...counters];
  const words = [plain.rule, ...priced.words, ...missing.map((name) => `${name} unpriced`)];
  return withUnpriced({ costNanoUsd: plain.costNanoUsd + priced.costNanoUsd, rule: words.join(", ") }, plain, missing);
}

function withUnpriced(priced: Priced, { unpriced = [] }: Priced, missing: readonly string[]): Priced {
  return unpriced.length + missing.length === 0 ? priced : { ...priced, unpriced: [...unpriced, ...missing] };
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
  const priced = {
    costNanoUsd: multiplied(cost, millionthsOf(held, priceMultiples)) + searching,
    rule: [plain.rule, ...words].join(", "),
  };
  return withUnpriced(
    priced,
    plain,
    held.filter((term) => multipleOf(term, priceMultiples) === undefined),
  );
}

/**
 * The terms of a request that its call is billed on until the answer reports others. A cheaper term is not among them: a request alone
 * lowers no price, and hosts that grant such a term report it.
 */
export function termsBeforeAnswer(
  requested: readonly string[],
  { priceMultiples }: Pick<PriceList, "priceMultiples">,
): readonly string[] {
  return requested.length === 0 ? requested : requested.filter((term) => (multipleOf(term, priceMultiples) ?? 1) >= 1);
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
