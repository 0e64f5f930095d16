import { completionTokens, promptTokens, USAGE_COUNTERS, type Usage, type UsageCounter } from "../canon/usage.ts";
import type { AnyPriceName, PriceItem, Pricings } from "./model.ts";
import { type CallSize, type CounterPrice, priceOf, type Unit, unitOf } from "./price-table.ts";

export interface Priced {
  costNanoUsd: number;
  /** The prices that were applied, in a form that a person can check against the catalogue. */
  rule: string;
  /** Names of usage without a price; absent if everything has one. */
  unpriced?: readonly string[];
}

type AppliedPrice = Required<Pick<CounterPrice, "name" | "item">>;

/** Units of which a million have one price. */
const BY_THE_MILLION: ReadonlySet<Unit> = new Set(["perMTokens", "perMCharacters"]);

/** A set of counters as one number. */
const BIT_OF = Object.fromEntries(USAGE_COUNTERS.map((counter, index) => [counter, 1 << index])) as Record<
  UsageCounter,
  number
>;

const UNIT_WORDS: Readonly<Record<Unit, string>> = {
  perMTokens: "USD/MTok",
  perCount: "USD each",
  perSecond: "USD/s",
  perMCharacters: "USD/MCharacters",
  perMTokenHours: "USD/MTok-hour",
};

/** Prices are counted in nano-dollars, amounts in millionths: a token price is per million, so both units meet at 10^-12. */
const MILLION = 1_000_000;
const BILLION = 1_000_000_000;
const NANO_DOLLAR = BigInt(MILLION) * BigInt(MILLION);

/**
 * The price of what a call used, in integer nano-dollars, rounded once. A tier depends on all prompt (or completion) tokens,
 * cached ones included, and holds for the whole call. Prices of one resolution count only where pricingsOfVideo or
 * pricingsOfImage chose them.
 */
export function priceUsage(usage: Usage, pricings: Pricings): Priced {
  const size = { prompt: promptTokens(usage), completion: completionTokens(usage) };
  const applied: AppliedPrice[] = [];
  const unpriced: AnyPriceName[] = [];
  let total = 0n;
  /** Token charges that a number holds exactly, in millionths of a nano-dollar: nearly always all of them. */
  let small = 0;
  let used = 0;
  const paidOtherwise = countedOtherwise(usage, pricings, size);
  let imagesPaid = false;
  for (const counter of USAGE_COUNTERS) {
    const amount = usage[counter] ?? 0;
    if (!(amount > 0 && amount < Number.POSITIVE_INFINITY)) continue;
    used |= BIT_OF[counter];
    if (paidOtherwise.has(counter)) continue;
    const price = priceOf(pricings, counter, size);
    const { name, item } = price;
    if (item !== undefined) {
      const charge = BY_THE_MILLION.has(item.unit) ? amount * Math.round(item.value * BILLION) : Number.NaN;
      if (Number.isSafeInteger(charge) && Number.isSafeInteger(small + charge)) small += charge;
      else total += exactCharge(amount, item.value, item.unit);
      applied.push({ name, item });
      imagesPaid ||= counter === "imageOutput" || name === "image";
      // No tier is for this size: the nearest is charged, and the receipt says that it is a guess.
      if (price.state === "unknown") unpriced.push(name);
    } else if (
      counter === "images" ? !imagesPaid : !(paidOtherwise.has("imageOutput") && unitOf(counter) === "perMTokens")
    ) {
      // An image is paid by its number or by its tokens: the one without a price of its own is then not unpriced.
      unpriced.push(name);
    }
  }
  const costNanoUsd =
    total === 0n
      ? Math.floor((small + MILLION / 2) / MILLION)
      : Number((total + BigInt(small) * BigInt(MILLION) + NANO_DOLLAR / 2n) / NANO_DOLLAR);
  const rule = ruleOf(pricings, used, applied, unpriced);
  return unpriced.length === 0 ? { costNanoUsd, rule } : { costNanoUsd, rule, unpriced: [...new Set(unpriced)] };
}

const NONE: ReadonlySet<UsageCounter> = new Set();

/**
 * Counters of what another counter of the usage counts too, in the unit that has the price: tokens of images that are priced by number, and
 * of sound that is priced by the second, or the seconds of sound that is priced by tokens.
 */
function countedOtherwise(usage: Usage, pricings: Pricings, size: CallSize): ReadonlySet<UsageCounter> {
  const { images = 0, seconds = 0, audioInput = 0 } = usage;
  if (images === 0 && (seconds === 0 || audioInput === 0)) return NONE;
  const found = new Set<UsageCounter>();
  if (images > 0 && priceOf(pricings, "images", size).item !== undefined) found.add("imageOutput");
  if (seconds > 0 && audioInput > 0)
    found.add(priceOf(pricings, "seconds", size).item === undefined ? "seconds" : "audioInput");
  return found;
}

function exactCharge(amount: number, value: number, unit: Unit): bigint {
  const charge = scaled(amount, MILLION) * scaled(value, BILLION);
  return BY_THE_MILLION.has(unit) ? charge : charge * BigInt(MILLION);
}

/** The rule for a price list and a set of counters, where it depends on no tier. */
const knownRules = new WeakMap<Pricings, Map<number, string>>();

function ruleOf(
  pricings: Pricings,
  used: number,
  applied: readonly AppliedPrice[],
  unpriced: readonly AnyPriceName[],
): string {
  for (const { item } of applied) if (item.conditions !== undefined) return ruleWords(applied, unpriced);
  const known = knownRules.get(pricings)?.get(used);
  if (known !== undefined) return known;
  const rule = ruleWords(applied, unpriced);
  const rules = knownRules.get(pricings) ?? new Map<number, string>();
  knownRules.set(pricings, rules.set(used, rule));
  return rule;
}

/** What a million of these tokens cost in a call of this size, in nano-dollars; undefined where they have no price. */
export function nanoPerMillion(pricings: Pricings, counter: UsageCounter, size: CallSize): number | undefined {
  const { item } = priceOf(pricings, counter, size);
  return item === undefined ? undefined : Math.round(item.value * BILLION);
}

/** The price of one counter within a call; undefined where that adds nothing to its cost. */
export function linePrice(
  usage: Usage,
  counter: UsageCounter,
  pricings: Pricings,
): { name: AnyPriceName; value: number; unit: Unit } | undefined {
  const size = { prompt: promptTokens(usage), completion: completionTokens(usage) };
  if (countedOtherwise(usage, pricings, size).has(counter)) return undefined;
  const { name, item } = priceOf(pricings, counter, size);
  return item === undefined ? undefined : { name, value: item.value, unit: item.unit };
}

/** The number times its scale, as an integer. Exact for prices as people write them: no more digits than the scale, below a million. */
function scaled(value: number, scale: number): bigint {
  const product = Math.round(value * scale);
  return Number.isSafeInteger(product) ? BigInt(product) : BigInt(Math.round(value)) * BigInt(scale);
}

function tierWords({ conditions, chosenFor }: PriceItem): string[] {
  const ranges = { prompt: conditions?.prompt_tokens, completion: conditions?.completion_tokens };
  const sizes = Object.entries(ranges).flatMap(([name, range]) => {
    if (range === undefined) return [];
    const bounds = [
      range.gte ? `≥ ${range.gte}k` : "",
      range.gt ? `> ${range.gt}k` : "",
      range.lte != null ? `≤ ${range.lte}k` : "",
      range.lt != null ? `< ${range.lt}k` : "",
    ].filter((bound) => bound !== "");
    return bounds.length === 0 ? [] : [`${name} ${bounds.join(" and ")} tier`];
  });
  return chosenFor === undefined ? sizes : [`${chosenFor} tier`, ...sizes];
}

function ruleWords(applied: readonly AppliedPrice[], unpriced: readonly AnyPriceName[]): string {
  if (applied.length === 0) return unpriced.length === 0 ? "nothing used" : "unpriced";
  const byUnit = new Map<Unit, Set<string>>();
  const tiers = new Set<string>();
  for (const { name, item } of applied) {
    const words = byUnit.get(item.unit) ?? new Set();
    byUnit.set(item.unit, words.add(`${name} ${item.value}`));
    for (const tier of tierWords(item)) tiers.add(tier);
  }
  const prices = [...byUnit].map(([unit, words]) => `${[...words].join(" + ")} ${UNIT_WORDS[unit]}`).join(" + ");
  const missing = unpriced.length === 0 ? [] : [`${[...new Set(unpriced)].join(", ")} unpriced`];
  return [prices, ...tiers, ...missing].join(", ");
}
