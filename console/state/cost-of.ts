import type { OfferPrices } from "../api/types.ts";

type Prices = OfferPrices["prices"];
type Item = Prices[number]["items"][number];

/** What one call uses. */
export interface CallSize {
  /** All tokens of the prompt, those from a cache among them. */
  prompt: number;
  cached: number;
  completion: number;
  images: number;
  seconds: number;
  characters: number;
}

const NANO = 1_000_000_000;
const UNIT_SIZE: Readonly<Record<string, number>> = {
  perMTokens: 1_000_000,
  perMCharacters: 1_000_000,
  perCount: 1,
  perSecond: 1,
};

interface TokenRange {
  gte?: number | null;
  gt?: number | null;
  lte?: number | null;
  lt?: number | null;
}

function isWithin(range: TokenRange | undefined, tokens: number): boolean {
  const size = tokens / 1_000;
  const { gte, gt, lte, lt } = range ?? {};
  return (
    size >= (gte ?? 0) &&
    size > (gt ?? -1) &&
    size <= (lte ?? Number.POSITIVE_INFINITY) &&
    size < (lt ?? Number.POSITIVE_INFINITY)
  );
}

/** The price for a call of this size: the one whose conditions it meets, without a resolution if there is one. */
function itemFor(items: readonly Item[], { prompt, completion }: CallSize): Item | undefined {
  const fitting = items.filter(({ conditions = {} }) => {
    const of = conditions as { prompt_tokens?: TokenRange; completion_tokens?: TokenRange };
    return isWithin(of.prompt_tokens, prompt) && isWithin(of.completion_tokens, completion);
  });
  return fitting.find(({ resolution }) => resolution === undefined) ?? fitting.at(-1);
}

/** The cost of a call in nano-dollars at these prices; undefined if a part of it has no price. */
export function costOf(prices: Prices, size: CallSize): number | undefined {
  const price = (names: readonly string[], unit: string): number | undefined => {
    for (const name of names) {
      const item = itemFor(prices.find((one) => one.name === name)?.items ?? [], size);
      if (item?.unit === unit) return (item.value * NANO) / (UNIT_SIZE[unit] ?? 1);
    }
    return undefined;
  };
  const cached = Math.min(size.cached, size.prompt);
  const parts: [amount: number, names: readonly string[], unit: string][] = [
    [size.prompt - cached, ["prompt"], "perMTokens"],
    [cached, ["input_cache_read", "prompt"], "perMTokens"],
    [size.completion, ["completion"], "perMTokens"],
    [size.images, ["image"], "perCount"],
    [size.seconds, ["audio_and_video", "video", "audio"], "perSecond"],
    [size.characters, ["characters"], "perMCharacters"],
  ];
  let cost = 0;
  for (const [amount, names, unit] of parts) {
    if (amount === 0) continue;
    const each = price(names, unit);
    if (each === undefined) return undefined;
    cost += amount * each;
  }
  return Math.round(cost);
}

/** The parts of a call that have a price, by the offers of a model. */
export function pricedParts(offers: readonly Pick<OfferPrices, "prices">[]): ReadonlySet<keyof CallSize> {
  const has = (unit: string, ...names: string[]) =>
    offers.some(({ prices }) =>
      prices.some((price) => names.includes(price.name) && price.items.some((item) => item.unit === unit)),
    );
  const parts: [keyof CallSize, boolean][] = [
    ["prompt", has("perMTokens", "prompt")],
    ["cached", has("perMTokens", "input_cache_read")],
    ["completion", has("perMTokens", "completion")],
    ["images", has("perCount", "image")],
    ["seconds", has("perSecond", "video", "audio_and_video", "audio")],
    ["characters", has("perMCharacters", "characters")],
  ];
  return new Set(parts.filter(([, isPriced]) => isPriced).map(([name]) => name));
}
