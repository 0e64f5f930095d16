import type { CallSettings } from "../../canon/call.ts";
import type { Effort } from "../../canon/reasoning.ts";
import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** What differs between hosts of the Responses dialect. */
export interface ResponsesQuirks extends MediaQuirks {
  /** The efforts that the host knows, weakest first; a model's own list goes before. */
  efforts: readonly Effort[];
  /** The host's own words for efforts. */
  effortWords: Partial<Record<Effort, string>>;
  /** The host sums reasoning up where it is asked to. */
  summaries: boolean;
  /** The host seals reasoning, and hands the sealed value out where `include` asks for it. */
  seals: boolean;
  /** Reasoning without a sealed value may stand in the history, as the words that it was. */
  openReasoning: boolean;
  /** Settings that the host refuses or does not know, in addition to those that the dialect has no field for. */
  unsupported: readonly (keyof CallSettings)[];
  /** The types of tools that the host knows; all where absent. */
  toolTypes: readonly string[] | undefined;
  /** The members of its web search that the host knows; all where absent (R26). */
  searchFields: readonly string[] | undefined;
  /** The host takes `prompt_cache_breakpoint` and `prompt_cache_options`, for the models that do. */
  cacheBreakpoints: boolean;
  /** The host takes what clients of its vendor's other dialect say of caching, tiers and metadata. */
  accountFields: boolean;
  /** The answer forms that the host knows. */
  outputFormats: readonly ("json" | "schema")[];
  /** The host says with 400, and in words alone, that it refuses the gateway's key (decision 0008). */
  badKeyIs400: boolean;
  /** The host is the maker of the clients that send `client_metadata`, and takes it (R33). */
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
  accountFields: true,
  outputFormats: ["json", "schema"],
  badKeyIs400: false,
  clientMetadata: false,
};
