import type { CallSettings } from "../../canon/call.ts";
import type { Effort } from "../../canon/reasoning.ts";
import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** How providers of the Responses dialect differ. */
export interface ResponsesQuirks extends MediaQuirks {
  /** The efforts that the provider supports, weakest first. A model's own list takes precedence. */
  efforts: readonly Effort[];
  /** The provider's names for efforts. */
  effortWords: Partial<Record<Effort, string>>;
  /** The provider returns summaries of reasoning on request. */
  summaries: boolean;
  /** The provider encrypts reasoning, and returns the encrypted value if `include` requests it. */
  seals: boolean;
  /** The history may contain reasoning as plain text, without an encrypted value. */
  openReasoning: boolean;
  /** Settings that the provider rejects or does not support, in addition to those that the dialect lacks. */
  unsupported: readonly (keyof CallSettings)[];
  /** The types of tools that the provider supports; all if absent. */
  toolTypes: readonly string[] | undefined;
  /** The web search settings that the provider supports; all if absent (R26). */
  searchFields: readonly string[] | undefined;
  /** The provider accepts `prompt_cache_breakpoint` and `prompt_cache_options`, for models that support them. */
  cacheBreakpoints: boolean;
  /** The host summarises long conversations. */
  compaction: boolean;
  /** The provider accepts its vendor's fields for caching, tiers and metadata, also from clients of its other dialect. */
  accountFields: boolean;
  /** The response formats that the provider supports. */
  outputFormats: readonly ("json" | "schema")[];
  /** The provider rejects an invalid gateway key with a 400, recognisable only by its message (decision 0008). */
  badKeyIs400: boolean;
  /** The provider is the maker of the clients that send `client_metadata`, and accepts it (R33). */
  clientMetadata: boolean;
}

export const DEFAULT_RESPONSES_QUIRKS: ResponsesQuirks = {
  ...DEFAULT_MEDIA_QUIRKS,
  media: ["image", "document"],
  efforts: ["off", "minimal", "low", "medium", "high", "xhigh"],
  effortWords: {},
  summaries: true,
  seals: true,
  openReasoning: false,
  unsupported: [],
  toolTypes: undefined,
  searchFields: undefined,
  cacheBreakpoints: false,
  compaction: false,
  accountFields: true,
  outputFormats: ["json", "schema"],
  badKeyIs400: false,
  clientMetadata: false,
};
