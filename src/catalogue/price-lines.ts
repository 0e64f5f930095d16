import type { PricedPart, Receipt } from "../canon/receipt.ts";
import { USAGE_COUNTERS, type Usage, type UsageCounter } from "../canon/usage.ts";
import { type AppliedPrices, costAt, readKeptPrices } from "./kept-prices.ts";
import { multipleOfTerms } from "./price-call.ts";
import { linePrice, priceUsage } from "./pricing.ts";
import { NO_TOOL_PRICES, toolCost } from "./tool-prices.ts";

/** One line of a bill. */
export interface PriceLine {
  /** A counter of the usage, or the name of a hosted tool. */
  counter: string;
  amount: number;
  /** `null`: it has no price. */
  priceUsd: number | null;
  unit: string;
  /** Of this line, rounded; the total is rounded once, and may differ by a nano-dollar. */
  costNanoUsd: number;
}

export interface BilledPart {
  lines: PriceLine[];
  terms: readonly string[];
  /** By which the cost of tokens is multiplied. */
  multiple: number;
  discountBasisPoints: number;
  costNanoUsd: number;
}

/** The cost of a receipt, line by line; undefined if the prices were not stored. */
export function billOf(
  { pricedBy, usage }: Pick<Receipt, "pricedBy" | "usage">,
  textOf: (pricesId: string) => string | undefined,
): BilledPart[] | undefined {
  if (pricedBy === undefined) return undefined;
  const parts: readonly PricedPart[] = "id" in pricedBy ? [{ prices: pricedBy, usage }] : pricedBy;
  const billed: BilledPart[] = [];
  for (const part of parts) {
    const text = textOf(part.prices.id);
    if (text === undefined) return undefined;
    billed.push(billPart(part.usage, readKeptPrices(text)));
  }
  return billed;
}

function billPart(usage: Usage, prices: AppliedPrices): BilledPart {
  return {
    lines: [
      ...USAGE_COUNTERS.flatMap((counter) => {
        const amount = usage[counter] ?? 0;
        return amount > 0 ? [lineOf(usage, counter, amount, prices)] : [];
      }),
      ...Object.entries(usage.tools ?? {}).flatMap(([name, uses]) => toolLines(name, uses, prices)),
    ],
    terms: prices.terms,
    multiple: multipleOfTerms(usage, prices.terms, prices),
    discountBasisPoints: prices.discount,
    costNanoUsd: costAt(usage, prices),
  };
}

function lineOf(usage: Usage, counter: UsageCounter, amount: number, { pricings }: AppliedPrices): PriceLine {
  const price = linePrice(usage, counter, pricings);
  if (price === undefined) return { counter, amount, priceUsd: null, unit: "", costNanoUsd: 0 };
  const { value, unit, name } = price;
  // The price of this line. Tiers depend on the whole call and are already chosen.
  const { costNanoUsd } = priceUsage({ [counter]: amount }, { [name]: [{ value, unit, currency: "USD" }] });
  return { counter, amount, priceUsd: value, unit, costNanoUsd };
}

/** One for each unit that its price has. */
function toolLines(counter: string, amount: number, { toolPrices = NO_TOOL_PRICES }: AppliedPrices): PriceLine[] {
  const known = toolPrices.find(counter);
  if (known === undefined || known.charges.length === 0) {
    return [{ counter, amount, priceUsd: known === undefined ? null : 0, unit: "", costNanoUsd: 0 }];
  }
  return known.charges.map((charge) => ({
    counter,
    amount,
    priceUsd: charge.usd,
    unit: charge.unit,
    costNanoUsd: toolCost({ charges: [charge] }, amount),
  }));
}
