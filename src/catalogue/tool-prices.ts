import type { ToolEntry, ToolPrice, ToolUnit } from "../canon/billable.ts";

/** A tool that has a price or is free. */
export interface KnownTool {
  /** The table's name for it, whichever version a request names. */
  readonly name: string;
  /** Empty where it is free. */
  readonly charges: readonly { readonly unit: ToolUnit; readonly usd: number }[];
  /** The number of uses per response that a reservation assumes. */
  readonly assumed: number;
}

/** Clients choose the names, so only this many are remembered. */
const MAX_KNOWN = 256;

/** The prices of an offer's hosted tools: the configuration, else the vendor's table. */
export class ToolPrices {
  readonly #entries: readonly { readonly pattern: RegExp; readonly entry: ToolEntry }[];
  readonly #own: readonly ToolPrice[];
  readonly #known = new Map<string, KnownTool | undefined>();

  constructor(entries: readonly ToolEntry[], own: readonly ToolPrice[] = []) {
    this.#entries = entries.map((entry) => ({
      pattern: new RegExp(entry.match === undefined ? "^$" : `^(?:${entry.match})$`),
      entry,
    }));
    this.#own = own;
  }

  /**
   * Undefined if its price is unknown. A variant has a price only if an entry names or matches it: it may cost many times as
   * much.
   */
  find(name: string): KnownTool | undefined {
    if (this.#known.has(name)) return this.#known.get(name);
    const found = this.#lookUp(name);
    if (this.#known.size < MAX_KNOWN) this.#known.set(name, found);
    return found;
  }

  /** The name under which a tool is billed that ran for a request with these tools. */
  variantBeside(name: string, asked: readonly string[]): string {
    for (const { entry } of this.#entries) {
      const { beside } = entry;
      if (beside === undefined || !entry.name.startsWith(`${name}:`)) continue;
      const pattern = new RegExp(`^(?:${beside})$`);
      if (asked.some((one) => pattern.test(one))) return entry.name;
    }
    return name;
  }

  #lookUp(name: string): KnownTool | undefined {
    const entries = this.#entries.filter(({ pattern, entry }) => entry.name === name || pattern.test(name));
    const listed = entries[0]?.entry.name ?? name;
    const assumed = Math.max(1, ...entries.map(({ entry }) => entry.assumed ?? 1));
    const set = this.#own.filter((price) => price.name === name || price.name === listed);
    if (set.length > 0) return { name: listed, charges: set.filter(({ usd }) => usd > 0), assumed };
    const { price: first, name: of } = entries[0]?.entry ?? {};
    if (first === undefined || first === "unknown") return undefined;
    // A table may hold those of several vendors: of each unit, the first price counts.
    const charges = new Map<ToolUnit, { unit: ToolUnit; usd: number }>();
    for (const { entry } of first === "free" ? [] : entries) {
      if (entry.name !== of) continue;
      if (typeof entry.price === "object" && !charges.has(entry.price.unit)) charges.set(entry.price.unit, entry.price);
    }
    return { name: listed, charges: [...charges.values()], assumed };
  }
}

/** The rows of a table that count for a model of the host. */
export function entriesFor(entries: readonly ToolEntry[], upstreamModel: string): readonly ToolEntry[] {
  if (entries.every(({ models }) => models === undefined)) return entries;
  const fits = ({ models }: ToolEntry): boolean => models !== undefined && new RegExp(models).test(upstreamModel);
  const own = new Set(entries.filter(fits).map(({ name }) => name));
  return entries.filter((entry) => (entry.models === undefined ? !own.has(entry.name) : fits(entry)));
}

export const NO_TOOL_PRICES = new ToolPrices([]);

const BILLION = 1_000_000_000;
const THOUSAND = 1_000;
const MILLION = 1_000_000;

/** What so many uses within one answer cost, in nano-dollars. */
export function toolCost({ charges }: Pick<KnownTool, "charges">, uses: number): number {
  let cost = 0;
  for (const { unit, usd } of charges) cost += usd * BILLION * unitsOf(unit, uses);
  return Math.round(cost);
}

/** How many units are charged for so many uses. */
function unitsOf(unit: ToolUnit, uses: number): number {
  if (unit === "1k_calls") return uses / THOUSAND;
  if (unit === "session") return uses > 0 ? 1 : 0;
  if (unit === "mtok_hour") return uses / MILLION;
  return unit === "gb_day" ? 0 : uses;
}

const UNIT_WORDS: Readonly<Record<ToolUnit, string>> = {
  call: "USD each",
  "1k_calls": "USD/1k calls",
  image: "USD/image",
  session: "USD/session",
  gb_day: "USD/GB-day",
  mtok_hour: "USD/MTok-hour",
};

export interface PricedTools {
  readonly costNanoUsd: number;
  /** For the price rule. */
  readonly words: readonly string[];
  readonly unpriced: readonly string[];
}

const NOTHING: PricedTools = { costNanoUsd: 0, words: [], unpriced: [] };

/** What the hosted tools of one answer cost. */
export function priceTools(tools: Readonly<Record<string, number>> | undefined, prices: ToolPrices): PricedTools {
  if (tools === undefined) return NOTHING;
  let costNanoUsd = 0;
  const words: string[] = [];
  const unpriced: string[] = [];
  for (const [name, uses] of Object.entries(tools)) {
    const known = prices.find(name);
    if (known === undefined) {
      unpriced.push(name);
      continue;
    }
    costNanoUsd += toolCost(known, uses);
    for (const { unit, usd } of known.charges) {
      if (unit !== "gb_day") words.push(`${name} ${usd} ${UNIT_WORDS[unit]}`);
    }
  }
  return { costNanoUsd, words, unpriced };
}

/** The prices that such a bill was made with, in the form of a configuration; what is free costs 0. */
export function appliedToolPrices(
  tools: Readonly<Record<string, number>> | undefined,
  prices: ToolPrices,
): readonly ToolPrice[] {
  return Object.keys(tools ?? {}).flatMap((name): ToolPrice[] => {
    const known = prices.find(name);
    if (known === undefined) return [];
    if (known.charges.length === 0) return [{ name, unit: "call", usd: 0 }];
    return known.charges.map(({ unit, usd }) => ({ name, unit, usd }));
  });
}
