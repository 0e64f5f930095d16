import type { CatalogueModel, OfferPrices } from "../api/types.ts";

type Item = OfferPrices["prices"][number]["items"][number];
type Offer = CatalogueModel["offers"][number];

/** What one of a price's units is called. */
const UNITS: Readonly<Record<string, string>> = {
  perMTokens: "per million tokens",
  perMCharacters: "per million characters",
  perMTokenHours: "per million tokens and hour",
  perCount: "each",
  perSecond: "per second",
};

export const unitWords = (unit: string): string => UNITS[unit] ?? unit;

/** A price as the list has it: `$3`, `$0.15`, `$0.0375`. */
export function dollars(value: number): string {
  if (value === 0) return "$0";
  const decimals = value >= 1 ? 2 : Math.min(9, 2 - Math.floor(Math.log10(value)));
  const written = value.toFixed(decimals);
  // Cents are complete, other trailing zeros are noise.
  return `$${written.includes(".") ? written.replace(/\.00$/, "").replace(/(\.\d\d\d*?)0+$/, "$1") : written}`;
}

const BOUNDS = { gte: "from", gt: "above", lte: "up to", lt: "below" } as const;

/** Which calls a price applies to, in words; empty for all. */
export function appliesTo({ resolution, conditions = {} }: Item): string {
  const sizes = Object.entries(conditions).flatMap(([name, range]) => {
    const bounds = Object.entries(BOUNDS).flatMap(([bound, word]) => {
      const value = (range as Record<string, unknown> | null)?.[bound];
      return typeof value === "number" && !(bound === "gte" && value === 0) ? [`${word} ${value}K`] : [];
    });
    return bounds.length === 0 ? [] : [`${name.replaceAll("_", " ")} ${bounds.join(", ")}`];
  });
  return [...(resolution === undefined ? [] : [resolution]), ...sizes].join("; ");
}

export type PriceState = "priced" | "free" | "unpriced";

/** Free models have a price, and it is zero. */
export function priceStateOf({ priced, prices }: Pick<Offer, "priced" | "prices">): PriceState {
  const all = Object.values(prices);
  if (!priced || all.length === 0) return "unpriced";
  return all.every(({ value, more }) => value === 0 && !more) ? "free" : "priced";
}

/** What is made, with its price: names of prices in the order in which one of them stands for the output. */
const OUTPUTS: readonly [name: string, words: Readonly<Record<string, string>>][] = [
  ["completion", {}],
  ["image", { perCount: "image", perMTokens: "M image tokens" }],
  ["audio_and_video", { perSecond: "s of video" }],
  ["video", { perSecond: "s of video" }],
  ["audio_output", { perMTokens: "M audio tokens" }],
  ["characters", { perMCharacters: "M characters" }],
  ["audio", { perSecond: "s of audio", perMTokens: "M audio tokens" }],
  ["search_unit", { perCount: "search" }],
];

interface ShownPrice {
  value: number;
  text: string;
  /** Per what, unless it is a million tokens. */
  per: string;
  /** Other prices apply to some calls. */
  more: boolean;
}

const shown = (offer: Offer | undefined, name: string, per = ""): ShownPrice | undefined => {
  const price = offer?.prices[name];
  return price && { value: price.value, text: dollars(price.value), per, more: price.more };
};

/** The prices that a list of models shows, of an offer: per million tokens, or in words. `+`: more for some calls. */
export const listPrices = (offer: Offer | undefined) => ({
  input: shown(offer, "prompt"),
  cached: shown(offer, "input_cache_read"),
  output: OUTPUTS.map(([name, words]) => shown(offer, name, words[offer?.prices[name]?.unit ?? ""] ?? "")).find(
    (price) => price !== undefined,
  ),
});

/** `$3 in, $15 out`, for a choice of models. */
export function priceWords({ offers }: Pick<CatalogueModel, "offers">): string {
  const [offer] = offers;
  if (offer === undefined) return "no offer";
  const state = priceStateOf(offer);
  if (state !== "priced") return state;
  const { input, output } = listPrices(offer);
  const words = (price: ShownPrice | undefined, of: string) =>
    price && `${price.text}${price.more ? "+" : ""}${price.per === "" ? of : `/${price.per}`}`;
  const parts = [words(input, " in"), words(output, " out")];
  return parts.filter((part) => part !== undefined).join(", ");
}
