import { createHash } from "node:crypto";
import type { ToolPrice } from "../canon/billable.ts";
import type { KeptPrices } from "../canon/receipt.ts";
import type { Usage } from "../canon/usage.ts";
import { OWN_PRICE_NAMES, PRICE_NAMES, type Pricings } from "./model.ts";
import { type PriceList, priceCall } from "./price-call.ts";
import { appliedToolPrices, ToolPrices } from "./tool-prices.ts";

/** The prices that a call was billed with. Together with its usage they reproduce its cost to the nano-dollar. */
export interface AppliedPrices extends PriceList {
  terms: readonly string[];
  /** Of the project, in basis points. */
  discount: number;
}

/**
 * Version of the format. A program that computes differently writes another number, and keeps this computation for this one.
 */
const FORM = 1;
/** Includes the prices of hosted tools, which a program that only knows the first version would leave out of the bill. */
const FORM_WITH_TOOLS = 2;
/** Includes a price of storage, whose unit earlier versions do not know. */
const FORM_WITH_STORAGE = 3;
const FORMS: ReadonlySet<number> = new Set([FORM, FORM_WITH_TOOLS, FORM_WITH_STORAGE]);

/** By the price list, which lives as long as its snapshot; then by terms and discount. */
const known = new WeakMap<Pricings, Map<string, KeptPrices>>();

/** The prices in stored form. Created once for each price list, terms and discount; calls only refer to it. */
export function keptPrices(
  { pricings, priceMultiples, terms, discount, toolPrices }: AppliedPrices,
  usage: Pick<Usage, "tools"> = NO_TOOLS,
): KeptPrices {
  let variants = known.get(pricings);
  if (variants === undefined) {
    variants = new Map();
    known.set(pricings, variants);
  }
  const multiples = terms.length === 0 ? undefined : pick(priceMultiples, terms);
  const forTools =
    usage.tools === undefined || toolPrices === undefined ? [] : appliedToolPrices(usage.tools, toolPrices);
  const isPlain = terms.length === 0 && discount === 0 && forTools.length === 0;
  const variant = isPlain ? "" : JSON.stringify([multiples, terms, discount, forTools]);
  let kept = variants.get(variant);
  if (kept === undefined) {
    const text = JSON.stringify({
      form: formOf(forTools),
      pricings: inOrder(pricings),
      ...(terms.length === 0 ? {} : { terms, price_multiples: multiples }),
      ...(discount === 0 ? {} : { discount_basis_points: discount }),
      ...(forTools.length === 0 ? {} : { tool_prices: forTools }),
    });
    kept = { id: digestOf(text), text };
    // Terms come from a provider and might differ in every response.
    if (variants.size < MAX_VARIANTS) variants.set(variant, kept);
  }
  return kept;
}

function formOf(forTools: readonly ToolPrice[]): number {
  if (forTools.length === 0) return FORM;
  return forTools.some(({ unit }) => unit === "mtok_hour") ? FORM_WITH_STORAGE : FORM_WITH_TOOLS;
}

const MAX_VARIANTS = 100;
const NO_TOOLS = {};

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

function pick(multiples: PriceList["priceMultiples"], terms: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    terms.flatMap((term) => {
      const multiple = multiples !== undefined && Object.hasOwn(multiples, term) ? multiples[term] : undefined;
      return multiple === undefined ? [] : [[term, multiple] as const];
    }),
  );
}

/** The same prices have the same digest, in whatever order they were written. */
function inOrder(pricings: Pricings): Pricings {
  const ordered: Pricings = {};
  for (const name of [...PRICE_NAMES, ...OWN_PRICE_NAMES]) {
    const items = pricings[name];
    if (items !== undefined && items.length > 0) ordered[name] = items;
  }
  return ordered;
}

/** The prices that were kept. Throws for a text that this program cannot compute by. */
export function readKeptPrices(text: string): AppliedPrices {
  const kept = JSON.parse(text) as {
    form: number;
    pricings: Pricings;
    terms?: string[];
    price_multiples?: Record<string, number>;
    discount_basis_points?: number;
    tool_prices?: ToolPrice[];
  };
  if (!FORMS.has(kept.form)) throw new Error(`prices of form ${kept.form} are not supported by this version`);
  return {
    pricings: kept.pricings,
    priceMultiples: kept.price_multiples,
    terms: kept.terms ?? [],
    discount: kept.discount_basis_points ?? 0,
    ...(kept.tool_prices === undefined ? {} : { toolPrices: new ToolPrices([], kept.tool_prices) }),
  };
}

/** What this usage costs at these prices. */
export const costAt = (usage: Usage, prices: AppliedPrices): number =>
  priceCall(usage, prices, prices.terms, prices.discount).costNanoUsd;
