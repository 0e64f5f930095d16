import { type JsonObject, stringAt } from "../../base/json.ts";
import type { AnyPriceName, PriceItem } from "../model.ts";
import type { ModelPatch } from "./model-patch.ts";

/** What a published list says about the models that this program can call. */
export interface SourceList {
  /** A model's `id` is its publisher and its name in the list. */
  models: ModelPatch[];
  /** The context length is that of the prompt alone, so it is used for new models only. */
  contextIsPrompt?: true;
  /** How many models were left out, by reason. */
  skipped: Record<string, number>;
  /** How often a price was found that the catalogue has no name for, by the list's name for it. */
  unread: Record<string, number>;
}

/** Counts one more in a list's report. */
export function countIn(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Fewer digits than a float has, so that 0.0000025 × 1,000,000 is 2.5. */
const SIGNIFICANT_DIGITS = 12;

export const rounded = (value: number): number => Number(value.toPrecision(SIGNIFICANT_DIGITS));

/** Items for each range of prompt sizes, in thousands of tokens. */
export function tieredPrice(base: number, tiers: readonly { above: number; value: number }[]): PriceItem[] {
  const item = (value: number): PriceItem => ({ value: rounded(value), unit: "perMTokens", currency: "USD" });
  if (tiers.length === 0) return [item(base)];
  const values = [base, ...tiers.map(({ value }) => value)];
  return values.map((value, index): PriceItem => {
    const from = tiers[index - 1]?.above;
    const to = tiers[index]?.above;
    const lower = from === undefined ? { gte: 0 } : { gt: from };
    const upper = to === undefined ? { lt: null } : { lte: to };
    return { ...item(value), conditions: { prompt_tokens: { unit: "kTokens", ...lower, ...upper } } };
  });
}

/** A day that the catalogue can hold: YYYY-MM-DD. */
export function dayAt(value: JsonObject, name: string): string | undefined {
  const day = stringAt(value, name);
  return day !== undefined && /^20\d\d-\d\d-\d\d$/.test(day) ? day : undefined;
}

/** The price of writing to a cache. One publisher charges by how long it is kept; its usual time is five minutes. */
export const cacheWritePrice = (publisher: string): AnyPriceName =>
  publisher === "anthropic" ? "input_cache_write_5_min" : "input_cache_write";
