/** What one charge of a hosted tool counts. A session is one answer in which the tool ran; storage is not billed with calls. */
export const TOOL_UNITS = ["call", "1k_calls", "image", "session", "gb_day"] as const;
export type ToolUnit = (typeof TOOL_UNITS)[number];

/** The price of a hosted tool, as configurations write it. 0 declares the tool free. */
export interface ToolPrice {
  readonly name: string;
  readonly unit: ToolUnit;
  readonly usd: number;
  /** Where the price was read, and when (YYYY-MM-DD). */
  readonly source?: string;
  readonly date?: string;
}

interface Known {
  readonly name: string;
  readonly source: string;
  readonly date: string;
}

/** One line of a vendor's table of hosted tools. A tool with charges of several units has a line for each. */
export interface ToolEntry extends Known {
  /** Other names of the same tool, its versions among them: a regular expression for the whole name. */
  readonly match?: string;
  /** `unknown`: the vendor has the tool, but no price of it was found. It is treated like a tool that is in no table. */
  readonly price: "free" | "unknown" | { readonly unit: ToolUnit; readonly usd: number };
  /** How many uses a reservation assumes of one answer, where the request sets no limit; 1 where absent. */
  readonly assumed?: number;
}

/**
 * One line of a vendor's table of terms: service tiers, speeds, regions, cache lifetimes. Terms that a vendor grants only to another API,
 * such as its batches, have no line: in a request they are unknown.
 */
export interface TermEntry extends Known {
  /** A number multiplies the ordinary price of tokens, for models that have no multiple of their own; 1 costs nothing more. */
  readonly price: "unknown" | number;
}

/** Everything of one vendor that can cost money besides ordinary tokens. */
export interface BillingTable {
  readonly tools: readonly ToolEntry[];
  readonly terms: readonly TermEntry[];
}

/** Something in a request that can cost money besides ordinary tokens. */
export interface Billable {
  readonly kind: "tool" | "term";
  /** As the request names it; a variant with its own price follows a colon, as in `image_generation:low`. */
  readonly name: string;
  /** JSON path of the field that asks for it. */
  readonly path: string;
  /** The most uses that the request allows, where it sets a limit. */
  readonly most?: number;
  /** Under this name it also reaches hosts that speak another dialect; absent where it does not. */
  readonly crossesAs?: string;
}

export const WEB_SEARCH = "web_search";

/** What happens to a request for something without a known price. */
export const UNPRICED_POLICIES = ["refuse", "mark"] as const;
export type UnpricedPolicy = (typeof UNPRICED_POLICIES)[number];

/** Every level must allow what passes: `refuse` at one of them wins. */
export const strictestPolicy = (...policies: readonly (UnpricedPolicy | undefined)[]): UnpricedPolicy | undefined =>
  policies.includes("refuse") ? "refuse" : policies.find((policy) => policy !== undefined);

const NAME = /^[\w.:-]{1,96}$/;

/** A name as receipts and metrics show it: hosts and clients choose these words. */
export const billableName = (name: string): string => (NAME.test(name) ? name : "other");
