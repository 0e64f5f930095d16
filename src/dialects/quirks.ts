import type { CallSettings } from "../canon/call.ts";
import type { MediaKind } from "../canon/part.ts";
import type { Effort } from "../canon/reasoning.ts";
import type { ToolIdRule } from "../canon/tool-id.ts";

/** Where a provider's wire differs from the dialect it speaks. Data with defaults, never a provider's name in a branch. */
export interface Quirks {
  /** chat: the name under which the host takes the output limit. */
  maxTokensField: "max_completion_tokens" | "max_tokens";
  /**
   * chat: how the host is told how much to think: the contract's `reasoning` object, `reasoning_effort`, `thinking: {type}`
   * with a budget where it takes one, `enable_thinking` with `thinking_budget`, or not at all.
   */
  reasoningField: "reasoning" | "reasoning_effort" | "thinking" | "enable_thinking" | "none";
  /** chat: the efforts that the host knows, weakest first; a model's own list goes before. */
  efforts: readonly Effort[];
  /** chat: the host's own words for efforts. */
  effortWords: Partial<Record<Effort, string>>;
  /** chat: `thinking` takes a `budget_tokens`. */
  thinkingBudget: boolean;
  /** chat: beside `thinking`, which switches, the host takes `reasoning_effort` with one of its efforts. */
  thinkingEffort: boolean;
  /**
   * chat: whether assistant messages may carry their reasoning back: hosts that refuse unknown fields must not see it, and
   * some refuse a history without it (`required`: an empty one where there is none).
   */
  reasoningHistory: "keep" | "drop" | "required";
  /** chat: what stands for reasoning that a `required` history lacks: some hosts count an empty one as missing. */
  reasoningPlaceholder: string;
  /** chat: the name under which the host takes reasoning back. */
  reasoningHistoryField: "reasoning_content" | "reasoning";
  /** chat: the host takes `reasoning_details` back, with the signatures in them: those of all reasoning, or those alone that it made. */
  reasoningDetails: boolean | "own";
  /** chat: ask for the usage chunk in streams, which the ledger needs. Hosts that always send it need no asking. */
  askStreamUsage: boolean;
  /** chat: settings that the host refuses or does not know. */
  unsupported: readonly (keyof CallSettings)[];
  /** chat: the host's word for "one of the tools, whichever"; undefined where it knows none. */
  anyToolWord: "required" | "any" | undefined;
  /** chat: the host takes a tool's choice by name. */
  namedToolChoice: boolean;
  /** chat: what the ids of tool calls must look like. */
  toolId: ToolIdRule | undefined;
  /** chat: the answer forms that the host knows. */
  outputFormats: readonly ("json" | "schema")[];
  /** chat: how the host goes on from a last message of the assistant's, where its models do. */
  prefill: "plain" | "prefix" | "none";
  /** chat: the host takes `cache_control` on content parts. */
  cacheControl: boolean;
  /** chat: the host takes `web_search_options`. */
  webSearch: boolean;
  /** chat: the open interval that temperature must lie in, where the host is narrower than the protocol. */
  temperature: { min: number; max: number } | undefined;
  /** chat: the open interval that top_p must lie in, where the host is narrower than the protocol. */
  topP: { min: number; max: number } | undefined;
  /** chat: the name of the seed. */
  seedField: "seed" | "random_seed";
  /** chat: where a tool call carries a signature, key by key. */
  toolSignatureKeys: readonly string[] | undefined;
  /** chat: the tool role takes pictures in its content. */
  mediaInToolRole: boolean;
  /** chat: reasoning stands inside the text between these marks. */
  reasoningTags: { open: string; close: string } | undefined;
  /** chat: every answer holds its reasoning between such marks, so that clients of the same dialect too need the canon. */
  alwaysTagged: boolean;
  /** chat: `completion_tokens` leaves out the tokens of reasoning, which are told, and paid, beside it. */
  reasoningBeside: boolean;
  /** messages: pass the client's beta names on. */
  forwardBetas: boolean;
  /** messages: the host takes system messages amid the others, for the models that do. */
  systemMessages: boolean;
  /** messages: the host knows `output_config.format` and `strict` tools. */
  structuredOutput: boolean;
  /** genai: whether the host takes `labels`, names of files, and the methods of safety settings. */
  labels: boolean;
  /** genai: the host takes plain JSON Schema (`parametersJsonSchema`, `responseJsonSchema`); else it is lowered (H08). */
  jsonSchema: boolean;
  /** genai: the counter takes the prompt inside a `generateContentRequest`; else its fields stand in the body. */
  countsWholeRequest: boolean;
  /** genai: calls and results carry ids. */
  functionIds: boolean;
  /** The kinds of media that the host takes as they are sent to it. */
  media: readonly MediaKind[];
  /** The kinds of media that the host fetches by itself from any address; others are fetched by the gateway (S12). */
  mediaUrls: readonly MediaKind[];
  /** Addresses that the host takes although it fetches no others, such as its own files. */
  ownAddresses: RegExp | undefined;
}

export const DEFAULT_QUIRKS: Quirks = {
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
  webSearch: false,
  temperature: undefined,
  topP: undefined,
  seedField: "seed",
  toolSignatureKeys: undefined,
  mediaInToolRole: false,
  reasoningTags: undefined,
  alwaysTagged: false,
  reasoningBeside: false,
  forwardBetas: false,
  systemMessages: false,
  structuredOutput: true,
  labels: true,
  jsonSchema: true,
  countsWholeRequest: false,
  functionIds: true,
  media: ["image", "document", "audio", "video"],
  mediaUrls: ["image", "document"],
  ownAddresses: undefined,
};
