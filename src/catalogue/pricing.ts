import { completionTokens, promptTokens, USAGE_COUNTERS, type Usage, type UsageCounter } from "../canon/usage.ts";
import type { AnyPriceName, PriceItem, Pricings, TokenRange } from "./model.ts";

export interface Priced {
  costNanoUsd: number;
  /** The prices that were applied, in a form that a person can check against the catalogue. */
  rule: string;
  /** Names of usage without a price; absent if everything has one. */
  unpriced?: readonly string[];
}

type Unit = PriceItem["unit"];

interface Source {
  names: readonly [AnyPriceName, ...AnyPriceName[]];
  unit: Unit;
  /** The price whose tiers also apply to this counter if its own price has none. */
  tiersOf?: AnyPriceName;
}

/** The prices of each counter: the first one that the model has applies. */
const SOURCES: Readonly<Record<UsageCounter, Source>> = {
  input: { names: ["prompt"], unit: "perMTokens" },
  cacheRead: { names: ["input_cache_read", "prompt"], unit: "perMTokens" },
  cacheWrite5m: { names: ["input_cache_write_5_min", "input_cache_write", "prompt"], unit: "perMTokens" },
  cacheWrite1h: { names: ["input_cache_write_1_h", "input_cache_write", "prompt"], unit: "perMTokens" },
  output: { names: ["completion", "image"], unit: "perMTokens" },
  reasoning: { names: ["internal_reasoning", "completion"], unit: "perMTokens", tiersOf: "completion" },
  imageInput: { names: ["image_input", "prompt"], unit: "perMTokens" },
  audioInput: { names: ["audio", "prompt"], unit: "perMTokens" },
  imageOutput: { names: ["image", "completion"], unit: "perMTokens" },
  audioOutput: { names: ["audio_output", "completion"], unit: "perMTokens" },
  images: { names: ["image"], unit: "perCount" },
  // Usage does not say whether a video has sound: callers use pricingsOfVideo first, which leaves one of the two.
  seconds: { names: ["audio_and_video", "video", "audio"], unit: "perSecond" },
  characters: { names: ["characters"], unit: "perMCharacters" },
  searches: { names: ["web_search", "search_unit"], unit: "perCount" },
};

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
  const applied: Price[] = [];
  const unpriced: AnyPriceName[] = [];
  let total = 0n;
  /** Token charges that a number holds exactly, in millionths of a nano-dollar: nearly always all of them. */
  let small = 0;
  let used = 0;
  const countedImages = (usage.images ?? 0) > 0 && findPrice(pricings, SOURCES.images, size) !== undefined;
  let imagesPaid = false;
  for (const counter of USAGE_COUNTERS) {
    const amount = usage[counter] ?? 0;
    if (!(amount > 0 && amount < Number.POSITIVE_INFINITY)) continue;
    used |= BIT_OF[counter];
    const source = SOURCES[counter];
    // A provider that prices images by number often reports their tokens too, which may have a price as plain completion.
    if (countedImages && counter === "imageOutput") continue;
    const price = findPrice(pricings, source, size);
    if (price !== undefined) {
      const charge = BY_THE_MILLION.has(source.unit) ? amount * Math.round(price.item.value * BILLION) : Number.NaN;
      if (Number.isSafeInteger(charge) && Number.isSafeInteger(small + charge)) small += charge;
      else total += exactCharge(amount, price.item.value, source.unit);
      applied.push(price);
      imagesPaid ||= counter === "imageOutput" || price.name === "image";
    } else if (counter === "images" ? !imagesPaid : !(countedImages && source.unit === "perMTokens")) {
      // An image is paid by its number or by its tokens: the one without a price of its own is then not unpriced.
      unpriced.push(source.names[0]);
    }
  }
  const costNanoUsd =
    total === 0n
      ? Math.floor((small + MILLION / 2) / MILLION)
      : Number((total + BigInt(small) * BigInt(MILLION) + NANO_DOLLAR / 2n) / NANO_DOLLAR);
  const rule = ruleOf(pricings, used, applied, unpriced);
  return unpriced.length === 0 ? { costNanoUsd, rule } : { costNanoUsd, rule, unpriced: [...new Set(unpriced)] };
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
  applied: readonly Price[],
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

/** In tokens: what tiers go by. */
export interface CallSize {
  prompt: number;
  completion: number;
}

/** What a million of these tokens cost in a call of this size, in nano-dollars; undefined where they have no price. */
export function nanoPerMillion(pricings: Pricings, counter: UsageCounter, size: CallSize): number | undefined {
  const price = findPrice(pricings, SOURCES[counter], size);
  return price === undefined ? undefined : Math.round(price.item.value * BILLION);
}

/** The price of one counter within a call; undefined where that adds nothing to its cost. */
export function linePrice(
  usage: Usage,
  counter: UsageCounter,
  pricings: Pricings,
): { name: AnyPriceName; value: number; unit: Unit } | undefined {
  const size = { prompt: promptTokens(usage), completion: completionTokens(usage) };
  const countedImages = (usage.images ?? 0) > 0 && findPrice(pricings, SOURCES.images, size) !== undefined;
  if (countedImages && counter === "imageOutput") return undefined;
  const price = findPrice(pricings, SOURCES[counter], size);
  return price === undefined ? undefined : { name: price.name, value: price.item.value, unit: price.item.unit };
}

const SMALLEST: CallSize = { prompt: 0, completion: 0 };

interface Price {
  name: AnyPriceName;
  item: PriceItem;
}

function findPrice(pricings: Pricings, source: Source, size: CallSize): Price | undefined {
  const own = findOwnPrice(pricings, source, size);
  const { tiersOf, unit } = source;
  if (own === undefined || tiersOf === undefined || own.item.conditions !== undefined) return own;
  const tiered: Source = { names: [tiersOf], unit };
  const tier = findOwnPrice(pricings, tiered, size);
  const isHigher = tier !== undefined && tier.item.value > own.item.value;
  return isHigher && tier.item !== findOwnPrice(pricings, tiered, SMALLEST)?.item ? tier : own;
}

function findOwnPrice(pricings: Pricings, { names, unit }: Source, size: CallSize): Price | undefined {
  let last: Price | undefined;
  for (const name of names) {
    let plain: Price | undefined;
    for (const item of pricings[name] ?? []) {
      if (item.unit !== unit || item.resolution !== undefined) continue;
      if (item.conditions === undefined) plain ??= { name, item };
      else if (holds(item, size)) return { name, item };
      else last = { name, item };
    }
    if (plain !== undefined) return plain;
  }
  // The tiers have a gap, or end below this call: the next tier is nearer the truth than no charge at all.
  return last;
}

function holds({ conditions }: PriceItem, size: CallSize): boolean {
  return within(conditions?.prompt_tokens, size.prompt) && within(conditions?.completion_tokens, size.completion);
}

function within(range: TokenRange | undefined, tokens: number): boolean {
  if (range === undefined) return true;
  const thousands = tokens / 1000;
  return (
    thousands >= (range.gte ?? 0) &&
    thousands > (range.gt ?? -1) &&
    thousands <= (range.lte ?? Number.POSITIVE_INFINITY) &&
    thousands < (range.lt ?? Number.POSITIVE_INFINITY)
  );
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

function ruleWords(applied: readonly Price[], unpriced: readonly AnyPriceName[]): string {
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
