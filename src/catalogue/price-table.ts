import type { UsageCounter } from "../canon/usage.ts";
import type { AnyPriceName, ModelKind, Offer, PriceItem, Pricings, TokenRange } from "./model.ts";

/**
 * What a counter costs at a price list. It is the only reader of prices: whatever shows, bounds, checks or bills a price asks here.
 * *Free* is a price of zero, which somebody stated. Where nobody stated a price, or none for a call of this size, it is *unknown*, with the
 * nearest tier as its item if there is one.
 */
export type CounterPrice =
  | { readonly state: "priced" | "free"; readonly name: AnyPriceName; readonly item: PriceItem }
  | { readonly state: "unknown"; readonly name: AnyPriceName; readonly item?: PriceItem };

export type Unit = PriceItem["unit"];

interface Source {
  names: readonly [AnyPriceName, ...AnyPriceName[]];
  unit: Unit;
  /** The price whose tiers also apply to this counter if its own price has none. */
  tiersOf?: AnyPriceName;
}

/**
 * The prices of each counter: the first one that the list has applies. The later names are the derivations: a token read from a cache costs
 * an ordinary one where the vendor gives no discount, reasoning costs what the response costs, and media cost what text costs.
 */
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

/** In tokens: what tiers go by. */
export interface CallSize {
  prompt: number;
  completion: number;
}

const SMALLEST: CallSize = { prompt: 0, completion: 0 };

/** What a counter costs in a call of this size. */
export function priceOf(pricings: Pricings, counter: UsageCounter, size: CallSize = SMALLEST): CounterPrice {
  const source = SOURCES[counter];
  const own = findPrice(pricings, source, size);
  const { tiersOf, unit } = source;
  if (own.item === undefined || tiersOf === undefined || own.item.conditions !== undefined) return own;
  const tiered: Source = { names: [tiersOf], unit };
  const tier = findPrice(pricings, tiered, size);
  const isHigher = tier.item !== undefined && tier.item.value > own.item.value;
  return isHigher && tier.item !== findPrice(pricings, tiered, SMALLEST).item ? tier : own;
}

function findPrice(pricings: Pricings, { names, unit }: Source, size: CallSize): CounterPrice {
  let nearest: CounterPrice | undefined;
  for (const name of names) {
    let plain: PriceItem | undefined;
    for (const item of pricings[name] ?? NO_ITEMS) {
      if (item.unit !== unit || item.resolution !== undefined) continue;
      if (item.conditions === undefined) plain ??= item;
      else if (holds(item, size)) return stated(name, item);
      // The tiers have a gap, or end below this call.
      else nearest = { state: "unknown", name, item };
    }
    if (plain !== undefined) return stated(name, plain);
  }
  return nearest ?? { state: "unknown", name: names[0] };
}

const NO_ITEMS: readonly PriceItem[] = [];

const stated = (name: AnyPriceName, item: PriceItem): CounterPrice => ({
  state: item.value === 0 ? "free" : "priced",
  name,
  item,
});

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

/** What every call of a kind uses. Of the counters of one line, which are units of the same thing, one needs a price. */
const NEEDED: Readonly<Record<ModelKind, readonly (readonly UsageCounter[])[]>> = {
  text: [["input"], ["output"]],
  image: [["images", "imageOutput"]],
  video: [["seconds"]],
  embedding: [["input"]],
  rerank: [["searches", "input"]],
  speech: [["characters", "seconds", "audioOutput"]],
  transcription: [["seconds", "audioInput"]],
  moderation: [["input"]],
};

/** The unit of a counter's prices. */
export const unitOf = (counter: UsageCounter): Unit => SOURCES[counter].unit;

/** Whether what a prompt costs depends on its length. */
export const dependsOnPrompt = ({ prompt = NO_ITEMS }: { readonly prompt?: readonly PriceItem[] }): boolean =>
  prompt.some(({ conditions }) => conditions?.prompt_tokens !== undefined);

/** Per million tokens and hour that a provider stores; undefined where it is unknown. */
export const storagePriceOf = ({ cache_storage: [price] = [] }: Pricings): number | undefined => price?.value;

type PricedOffer = Pick<Offer, "pricings" | "contextLength">;

const known = new WeakMap<PricedOffer, Map<ModelKind, readonly AnyPriceName[]>>();

/** The prices that calls of the kind need and that the offer does not have, or not for calls of every size. */
export function unknownPrices(kind: ModelKind, offer: PricedOffer): readonly AnyPriceName[] {
  let byKind = known.get(offer);
  if (byKind === undefined) {
    byKind = new Map();
    known.set(offer, byKind);
  }
  let names = byKind.get(kind);
  if (names === undefined) {
    const sizes = sizesOf(offer);
    const missing = NEEDED[kind].filter((counters) =>
      counters.every((counter) => sizes.some((size) => priceOf(offer.pricings, counter, size).state === "unknown")),
    );
    names = missing.flatMap(([counter]) => (counter === undefined ? [] : [priceOf({}, counter).name]));
    byKind.set(kind, names);
  }
  return names;
}

/** Whether somebody stated that calls of this kind cost nothing. */
export const isFree = (kind: ModelKind, { pricings }: Pick<Offer, "pricings">): boolean =>
  NEEDED[kind].every((counters) => counters.some((counter) => priceOf(pricings, counter).state === "free"));

/** The names of prices that such calls need. */
export const neededNames = (kind: ModelKind): ReadonlySet<AnyPriceName> =>
  new Set(NEEDED[kind].flat().flatMap((counter) => SOURCES[counter].names));

/** One call on each side of every bound of the tiers, within the offer's context. */
function sizesOf({ pricings, contextLength = Number.MAX_SAFE_INTEGER }: PricedOffer): readonly CallSize[] {
  const prompts = new Set([1]);
  const completions = new Set([1]);
  for (const { conditions } of Object.values(pricings).flat()) {
    for (const tokens of around(conditions?.prompt_tokens)) prompts.add(Math.min(tokens, contextLength));
    for (const tokens of around(conditions?.completion_tokens)) completions.add(Math.min(tokens, contextLength));
  }
  return [...prompts].flatMap((prompt) => [...completions].map((completion) => ({ prompt, completion })));
}

function around(range: TokenRange | undefined): number[] {
  if (range === undefined) return [];
  return [range.gte, range.gt, range.lte, range.lt].flatMap((bound) => {
    const tokens = (bound ?? 0) * 1000;
    return tokens > 0 ? [tokens - 1, tokens, tokens + 1] : [];
  });
}
