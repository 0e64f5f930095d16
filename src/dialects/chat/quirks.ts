import type { CallSettings } from "../../canon/call.ts";
import type { Effort } from "../../canon/reasoning.ts";
import type { ToolIdRule } from "../../canon/tool-id.ts";
import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** What differs between hosts of chat completions. */
export interface ChatQuirks extends MediaQuirks {
  /** The name under which the host takes the output limit. */
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /**
   * How the host is asked for a reasoning effort: the contract's `reasoning` object, `reasoning_effort`, `thinking: {type}`
   * with a budget where it takes one, `enable_thinking` with `thinking_budget`, or not at all.
   */
  reasoningField: "reasoning" | "reasoning_effort" | "thinking" | "enable_thinking" | "none";
  /** The efforts that the host knows, weakest first; a model's own list goes before. */
  efforts: readonly Effort[];
  /** The host's own words for efforts. */
  effortWords: Partial<Record<Effort, string>>;
  /** `thinking` takes a `budget_tokens`. */
  thinkingBudget: boolean;
  /** Beside `thinking`, which switches, the host takes `reasoning_effort` with one of its efforts. */
  thinkingEffort: boolean;
  /**
   * Whether assistant messages may carry their reasoning back: hosts that refuse unknown fields must not see it, and
   * some refuse a history without it (`required`: an empty one where there is none).
   */
  reasoningHistory: "keep" | "drop" | "required";
  /** What stands for reasoning that a `required` history lacks: some hosts count an empty one as missing. */
  reasoningPlaceholder: string;
  /** The name under which the host takes reasoning back. */
  reasoningHistoryField: "reasoning_content" | "reasoning";
  /** The host takes `reasoning_details` back, with the signatures in them: those of all reasoning, or those alone that it made. */
  reasoningDetails: boolean | "own";
  /** Ask for the usage chunk in streams, which the ledger needs. Hosts that always send it need no asking. */
  askStreamUsage: boolean;
  /** Settings that the host refuses or does not know. */
  unsupported: readonly (keyof CallSettings)[];
  /** The host's word for "one of the tools, whichever"; undefined where it knows none. */
  anyToolWord: "required" | "any" | undefined;
  /** The host takes a tool's choice by name. */
  namedToolChoice: boolean;
  /** What the ids of tool calls must look like. */
  toolId: ToolIdRule | undefined;
  /** The answer forms that the host knows. */
  outputFormats: readonly ("json" | "schema")[];
  /** How the host goes on from a last message of the assistant's, where its models do. */
  prefill: "plain" | "prefix" | "none";
  /** The host takes `cache_control` on content parts. */
  cacheControl: boolean;
  /** The host takes `prompt_cache_breakpoint` and `prompt_cache_options`, for the models that do. */
  cacheBreakpoints: boolean;
  /** The host takes what its vendor's clients say of caching, tiers and end users, also from clients of its other dialect. */
  accountFields: boolean;
  /** The host takes `web_search_options`. */
  webSearch: boolean;
  /** The open interval that temperature must lie in, where the host is narrower than the protocol. */
  temperature: { min: number; max: number } | undefined;
  /** The open interval that top_p must lie in, where the host is narrower than the protocol. */
  topP: { min: number; max: number } | undefined;
  /** The name of the seed. */
  seedField: "seed" | "random_seed";
  /** Where a tool call carries a signature, key by key. */
  toolSignatureKeys: readonly string[] | undefined;
  /** The tool role takes images in its content. */
  mediaInToolRole: boolean;
  /** Reasoning stands inside the text between these marks. */
  reasoningTags: { open: string; close: string } | undefined;
  /** Every answer holds its reasoning between such marks, so that clients of the same dialect too need the canon. */
  alwaysTagged: boolean;
  /** `completion_tokens` leaves out the tokens of reasoning, which are reported, and paid, separately. */
  reasoningBeside: boolean;
  /** The output limit holds for reasoning, too. */
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
