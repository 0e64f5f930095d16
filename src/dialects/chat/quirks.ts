import type { CallSettings } from "../../canon/call.ts";
import type { Effort } from "../../canon/reasoning.ts";
import type { ToolIdRule } from "../../canon/tool-id.ts";
import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** How providers of chat completions differ. */
export interface ChatQuirks extends MediaQuirks {
  /** The provider's name for the output limit. */
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /**
   * How reasoning effort is sent: in the contract's `reasoning` object, as `reasoning_effort`, as `thinking: {type}` with a budget if
   * supported, as `enable_thinking` with `thinking_budget`, or not at all.
   */
  reasoningField: "reasoning" | "reasoning_effort" | "thinking" | "enable_thinking" | "none";
  /** The efforts that the provider supports, weakest first. A model's own list takes precedence. */
  efforts: readonly Effort[];
  /** The provider's names for efforts. */
  effortWords: Partial<Record<Effort, string>>;
  /** `thinking` accepts `budget_tokens`. */
  thinkingBudget: boolean;
  /** In addition to `thinking`, which turns it on or off, the provider accepts `reasoning_effort`. */
  thinkingEffort: boolean;
  /**
   * Whether assistant messages may return their reasoning. Some providers reject unknown fields, and some reject a history without
   * reasoning (`required`: a placeholder where there is none).
   */
  reasoningHistory: "keep" | "drop" | "required";
  /** The placeholder for missing reasoning in a `required` history. Some providers treat an empty one as missing. */
  reasoningPlaceholder: string;
  /** The provider's name for returned reasoning. */
  reasoningHistoryField: "reasoning_content" | "reasoning";
  /**
   * The provider accepts `reasoning_details` with their signatures: for all reasoning, or only for its own. `instead`: it has no signatures,
   * and accepts reasoning in no other field.
   */
  reasoningDetails: boolean | "own" | "instead";
  /** Request the usage chunk in streams, which the ledger needs. Not necessary for providers that always send it. */
  askStreamUsage: boolean;
  /** Settings that the provider rejects or does not support. */
  unsupported: readonly (keyof CallSettings)[];
  /** The provider's value for "any tool"; undefined if it has none. */
  anyToolWord: "required" | "any" | undefined;
  /** The provider accepts a tool choice by name. */
  namedToolChoice: boolean;
  /** The required format of tool call ids. */
  toolId: ToolIdRule | undefined;
  /** The response formats that the provider supports. */
  outputFormats: readonly ("json" | "schema")[];
  /** How the provider continues a partial assistant message at the end, if its models do. */
  prefill: "plain" | "prefix" | "none";
  /** The provider accepts `cache_control` on content parts. */
  cacheControl: boolean;
  /** The provider accepts `prompt_cache_breakpoint` and `prompt_cache_options`, for models that support them. */
  cacheBreakpoints: boolean;
  /** The provider accepts its vendor's fields for caching, tiers and end users, also from clients of its other dialect. */
  accountFields: boolean;
  /** The provider accepts `web_search_options`. */
  webSearch: boolean;
  /** The open interval for temperature, if narrower than the protocol's. */
  temperature: { min: number; max: number } | undefined;
  /** The open interval for top_p, if narrower than the protocol's. */
  topP: { min: number; max: number } | undefined;
  seedField: "seed" | "random_seed";
  /** The keys that lead to the signature in a tool call. */
  toolSignatureKeys: readonly string[] | undefined;
  /** The tool role accepts images in its content. */
  mediaInToolRole: boolean;
  /** Reasoning is in the text, between these tags. */
  reasoningTags: { open: string; close: string } | undefined;
  /** Every answer contains its reasoning between these tags, so even clients of the same dialect need the canon. */
  alwaysTagged: boolean;
  /** `completion_tokens` excludes reasoning tokens, which are reported and billed separately. */
  reasoningBeside: boolean;
  /** The output limit includes reasoning. */
  limitsReasoning: boolean;
}

export const DEFAULT_CHAT_QUIRKS: ChatQuirks = {
  ...DEFAULT_MEDIA_QUIRKS,
  maxTokensField: "max_completion_tokens",
  reasoningField: "reasoning_effort",
  efforts: ["low", "medium", "high"],
  effortWords: { off: "none" },
  thinkingBudget: false,
  thinkingEffort: false,
  reasoningHistory: "drop",
  reasoningPlaceholder: "",
  reasoningHistoryField: "reasoning_content",
  reasoningDetails: false,
  askStreamUsage: true,
  unsupported: ["topK"],
  anyToolWord: "required",
  namedToolChoice: true,
  toolId: undefined,
  outputFormats: ["json", "schema"],
  prefill: "none",
  cacheControl: false,
  cacheBreakpoints: false,
  accountFields: false,
  webSearch: false,
  temperature: undefined,
  topP: undefined,
  seedField: "seed",
  toolSignatureKeys: undefined,
  mediaInToolRole: false,
  reasoningTags: undefined,
  alwaysTagged: false,
  reasoningBeside: false,
  limitsReasoning: true,
};
