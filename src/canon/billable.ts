/** The unit of one charge for a hosted tool. A session is one response in which the tool ran. Storage is not billed with calls. */
export const TOOL_UNITS = ["call", "1k_calls", "image", "session", "gb_day"] as const;
/** `mtok_hour`: a million tokens, stored for an hour. Price lists have it as `cache_storage`. */
export type ToolUnit = (typeof TOOL_UNITS)[number] | "mtok_hour";

/** The price of a hosted tool, as configurations write it. 0 declares the tool free. */
export interface ToolPrice {
  readonly name: string;
  readonly unit: ToolUnit;
  readonly usd: number;
  /** Where and when (YYYY-MM-DD) the price was found. */
  readonly source?: string;
  readonly date?: string;
}

interface Known {
  readonly name: string;
  readonly source: string;
  readonly date: string;
}

/** One row of a vendor's table of hosted tools. A tool that is charged in several units has a row for each. */
export interface ToolEntry extends Known {
  /** A regular expression for the full names of variants of the same tool, such as its versions. */
  readonly match?: string;
  /** `unknown`: the vendor offers the tool, but no price was found. It is treated like a tool that is in no table. */
  readonly price: "free" | "unknown" | { readonly unit: ToolUnit; readonly usd: number };
  /** A regular expression for the host's names of the models that the row is for. Other rows of that name then do not count for them. */
  readonly models?: string;
  /** A regular expression for tools of the same request with which the tool runs as this variant. */
  readonly beside?: string;
  /** How many uses per response a reservation assumes when the request sets no limit. Defaults to 1. */
  readonly assumed?: number;
}

/** One row of a vendor's table of terms: service tiers, speeds, regions, cache lifetimes, batches. */
export interface TermEntry extends Known {
  /** A multiplier of the ordinary token price, for models without their own. 1 means no extra cost. */
  readonly price: "unknown" | number;
}

/** Everything from one vendor that can cost money besides ordinary tokens. */
export interface BillingTable {
  readonly tools: readonly ToolEntry[];
  readonly terms: readonly TermEntry[];
}

/** Something in a request that can cost money besides ordinary tokens. */
export interface Billable {
  readonly kind: "tool" | "term";
  /** As in the request. A variant with its own price follows a colon, as in `image_generation:low`. */
  readonly name: string;
  /** JSON path of the field that requests it. */
  readonly path: string;
  /** The maximum number of uses, if the request sets a limit. */
  readonly most?: number;
  /** The name it has at providers of other dialects. Absent if it is not sent to them. */
  readonly crossesAs?: string;
}

export const WEB_SEARCH = "web_search";
export const WEB_FETCH = "web_fetch";
export const MODERATION = "moderation";
export const CODE_EXECUTION = "code_execution";
export const MCP = "mcp";
/** Tokens that a provider stores for later requests, counted in tokens times hours. */
export const CACHE_STORAGE = "cache_storage";

/** What happens to a request that uses something without a known price. */
export const UNPRICED_POLICIES = ["refuse", "mark"] as const;
export type UnpricedPolicy = (typeof UNPRICED_POLICIES)[number];

/** `refuse` at any level wins. */
export const strictestPolicy = (...policies: readonly (UnpricedPolicy | undefined)[]): UnpricedPolicy | undefined =>
  policies.includes("refuse") ? "refuse" : policies.find((policy) => policy !== undefined);

const NAME = /^[\w.:-]{1,96}$/;

/** The name in receipts and metrics. Providers and clients choose these strings, so unusual ones become `other`. */
export const billableName = (name: string): string => (NAME.test(name) ? name : "other");
