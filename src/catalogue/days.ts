import type { PriceItem, Pricings } from "./model.ts";

/** When a day (YYYY-MM-DD) begins: prices change and models end at midnight UTC. */
export const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

const DAY_MS = 86_400_000;

/** The full days until that day begins; 0 on the day itself and after it. */
export const daysUntil = (day: string, nowMs: number): number =>
  Math.max(0, Math.ceil((startOf(day) - nowMs) / DAY_MS));

/** Whether that day has come. */
export const hasCome = (day: string | undefined, nowMs: number): boolean => day !== undefined && nowMs >= startOf(day);

/**
 * The prices at that time: of each name the items of the latest day that has come, without their day. A name that has none yet is left
 * out, as unknown. Prices without days are returned as they are.
 */
export function pricingsAt(pricings: Pricings, nowMs: number): Pricings {
  if (daysOf(pricings).length === 0) return pricings;
  const chosen: Pricings = {};
  for (const [name, items] of Object.entries(pricings) as [keyof Pricings, PriceItem[]][]) {
    const current = itemsAt(items, nowMs);
    if (current.length > 0) chosen[name] = current;
  }
  return chosen;
}

/** The items of one price that hold at that time. */
export function itemsAt(items: readonly PriceItem[], nowMs: number): PriceItem[] {
  const come = items.filter(({ from }) => from === undefined || hasCome(from, nowMs));
  const latest = come.map(({ from = "" }) => from).reduce((one, other) => (other > one ? other : one), "");
  return come.filter(({ from = "" }) => from === latest).map(({ from: _, ...item }) => item);
}

/** The days on which a price of the list changes. */
export const daysOf = (pricings: Pricings): string[] =>
  Object.values(pricings).flatMap((items) => items.flatMap(({ from }) => from ?? []));
