import type { OfferPrices } from "../api/types.ts";

type Item = OfferPrices["prices"][number]["items"][number];

const UNITS: Readonly<Record<string, string>> = {
  perMTokens: "/M",
  perMCharacters: "/M characters",
  perMTokenHours: "/M hours",
  perCount: " each",
  perSecond: "/s",
};

const amount = ({ value, unit, currency }: Item): string =>
  `${currency === "USD" ? "$" : `${currency} `}${value}${UNITS[unit] ?? ` ${unit}`}`;

/** The price, with the conditions it depends on. */
export function priceText(item: Item): string {
  const conditions = Object.entries(item.conditions ?? {}).map(([name, range]) => `${name} ${JSON.stringify(range)}`);
  const depends = [...(item.resolution === undefined ? [] : [item.resolution]), ...conditions];
  return depends.length === 0 ? amount(item) : `${amount(item)} (${depends.join(", ")})`;
}

/** The first of these prices that the offer has. */
export function firstPrice(offer: OfferPrices | undefined, names: readonly string[]): string {
  for (const name of names) {
    const item = offer?.prices.find((price) => price.name === name)?.items[0];
    if (item !== undefined) return amount(item);
  }
  return "–";
}
