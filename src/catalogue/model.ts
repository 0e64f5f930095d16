import type { ToolPrice } from "../canon/billable.ts";
import type { OfferTraits } from "../canon/offer-traits.ts";
import type { ModelTraits } from "../canon/traits.ts";
import type { ToolPrices } from "./tool-prices.ts";

/** The modalities of contract 2.9, and the outputs that it does not name. */
export const MODALITIES = [
  "text",
  "image",
  "video",
  "audio",
  "file",
  "embeddings",
  "rerank",
  "transcription",
  "moderation",
] as const;

export type Modality = (typeof MODALITIES)[number];

/** Bounds in thousands of tokens; an absent or null bound is open. */
export interface TokenRange {
  unit: "kTokens";
  gte?: number | null;
  gt?: number | null;
  lte?: number | null;
  lt?: number | null;
}

export interface PriceItem {
  value: number;
  unit: "perMTokens" | "perCount" | "perSecond" | "perMCharacters" | "perMTokenHours";
  currency: "USD";
  /**
   * YYYY-MM-DD: the price holds from that day on, 00:00 UTC, until items with a later day take its place. Absent: from the beginning.
   * The prices of a call never have it: `pricingsAt` chooses those of its time.
   */
  from?: string;
  /** The price applies only to images or videos of this resolution, such as `1080p` or `2K`. Lists omit such prices. */
  resolution?: string;
  /** Replaces `resolution` once the price is chosen for a call (see resolution-prices.ts). Data never contains it. */
  chosenFor?: string;
  /** The price applies only to calls of this size. */
  conditions?: { prompt_tokens?: TokenRange; completion_tokens?: TokenRange };
}

export const PRICE_NAMES = [
  "prompt",
  "completion",
  "input_cache_read",
  "input_cache_write_5_min",
  "input_cache_write_1_h",
  "input_cache_write",
  "web_search",
  "internal_reasoning",
  "video",
  "image",
  "audio",
  "audio_and_video",
] as const;

export type PriceName = (typeof PRICE_NAMES)[number];

/**
 * Prices that the contract has no name for: of prompt tokens of images, of generated tokens of sound, of characters that are spoken, of a
 * reranker's searches, of tokens that a provider stores, and of sound and images that were read from a cache.
 */
export const OWN_PRICE_NAMES = [
  "image_input",
  "audio_output",
  "characters",
  "search_unit",
  "cache_storage",
  "audio_cache_read",
  "image_cache_read",
] as const;

/** The contract's price list and our additional prices. Lists only show the contract's names. */
export type AnyPriceName = PriceName | (typeof OWN_PRICE_NAMES)[number];

export type Pricings = Partial<Record<AnyPriceName, PriceItem[]>>;

export const MODEL_KINDS = [
  "text",
  "image",
  "video",
  "embedding",
  "rerank",
  "speech",
  "transcription",
  "moderation",
] as const;

export type ModelKind = (typeof MODEL_KINDS)[number];

/** How long a publisher serves a model, and who says so. */
export interface Lifetime {
  /** YYYY-MM-DD: it stops serving the model on that day, 00:00 UTC. */
  retiresOn?: string;
  /** YYYY-MM-DD: it serves the model at least until then. Nothing ends on that day. */
  retiresAfter?: string;
  /** The id of the model that it names for a retired one. */
  replacedBy?: string;
  /** Who gives the day, and when that was read. */
  retirement?: { source: string; date: string };
}

/** What is known about a model, whichever provider serves it. */
export interface ModelFacts extends Lifetime {
  /** `<publisher>/<name>`, one slash. */
  id: string;
  displayName: string;
  description?: string;
  /** YYYY-MM-DD */
  created?: string;
  contextLength?: number;
  maxOutputTokens?: number;
  inputModalities: readonly Modality[];
  outputModalities: readonly Modality[];
  reasoning: boolean;
  kind: ModelKind;
  /** 1 to 10: see `quality` in models.json. */
  quality?: number;
  /** `trivium/auto` chooses it only where the call names it. */
  onlyByName?: boolean;
  /** What a request to the model depends on; absent for models that only the configuration knows. */
  traits?: Omit<ModelTraits, "reasoning" | "maxOutputTokens">;
  pricings: Pricings;
  /** The factor for token prices on special terms, such as `priority`. */
  priceMultiples?: Readonly<Record<string, number>>;
  /** Prices of hosted tools for this model, in place of its vendor's. */
  tools?: readonly ToolPrice[];
  /** The price list is intentionally empty: the model is free. */
  free?: boolean;
  /** The operator set the price of a search. */
  setsSearch?: boolean;
  /** What the listed prices cannot express, such as more expensive resolutions. */
  priceNote?: string;
}

/** One model at one provider. Where the offer says nothing, the model's value counts. */
export interface Offer {
  provider: string;
  upstreamModel: string;
  pricings: Pricings;
  priceMultiples?: Readonly<Record<string, number>>;
  /** Prices of the tools that its provider hosts. */
  toolPrices?: ToolPrices;
  contextLength?: number;
  maxOutputTokens?: number;
  /** Where the model is served better or worse than elsewhere, such as with fewer bits. */
  quality?: number;
  /** Its share of the calls among equal offers; absent if only their order counts. */
  weight?: number;
  /** YYYY-MM-DD: its provider stops serving it on that day, 00:00 UTC. */
  retiresOn?: string;
  dialect?: string;
  /** The dialect in which calls with tools are sent; absent: what the model is known to need. */
  toolsDialect?: string;
  /** Whether it continues a partial response; absent: what its provider is known to do. */
  prefill?: boolean;
  /** What the operator states about it, in place of what is stated about its provider. */
  traits?: OfferTraits;
}

/** The rank of a model without one: the middle of the scale. */
export const MIDDLE_QUALITY = 5;

export interface Model extends ModelFacts {
  offers: Offer[];
}

/** A built-in model, and its name at the publisher's own service. */
export interface BuiltInModel extends ModelFacts {
  upstreamModel: string;
  /** Offered only in this dialect, whatever else its provider supports. */
  dialect?: string;
}

export function publisherOf(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

export function nameOf(id: string): string {
  return id.slice(id.indexOf("/") + 1);
}
