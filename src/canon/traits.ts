import type { Effort } from "./reasoning.ts";

/** What a model supports, as far as requests depend on it. It comes from the catalogue. */
export interface ModelTraits {
  reasoning: boolean;
  /**
   * How the model takes the amount of reasoning: an effort, a token budget, a level (an effort that excludes a budget), or an effort next
   * to adaptive thinking. If absent, in the usual way of the target's protocol.
   */
  reasoningForm?: "effort" | "budget" | "level" | "adaptive";
  /** The supported efforts, weakest first. Includes `off` if thinking can be turned off. */
  efforts?: readonly Effort[];
  /** The supported budgets, and whether thinking can be turned off. */
  budget?: { min: number; max: number; off: boolean };
  /** Returns 400 for temperature, top_p and top_k. */
  rejectsSampling?: boolean;
  /** Returns 400 for presence and frequency penalties. */
  rejectsPenalties?: boolean;
  /** Returns 400 for a choice that forces a tool call. */
  rejectsForcedTools?: boolean;
  /** messages: thinking is bound to the conversation before it. Returns 400 if that was changed since. */
  bindsThinking?: boolean;
  /** Returns 400 for stop sequences. */
  rejectsStop?: boolean;
  /** Returns 400 for a call in the history without its signature. */
  demandsSignatures?: boolean;
  /** Accepts images and documents in tool results. */
  mediaInToolResults?: boolean;
  /** Supports response schemas. Otherwise a forced tool call is used instead. */
  structuredOutput?: boolean;
  /** Accepts a response schema together with tools. Other models of its dialect return 400 for that. */
  schemaBesideTools?: boolean;
  /** Continues a partial assistant message at the end. */
  prefill?: boolean;
  /** messages: accepts system messages after user messages. */
  systemMessages?: boolean;
  /** The dialect that the model was made for, in which clients of other dialects lose the least. */
  bestDialect?: string;
  /** The dialect required for calls with tools. The model rejects tools in the vendor's other dialects. */
  toolsDialect?: string;
  /** Accepts explicit cache breakpoints, in dialects whose providers otherwise place them automatically. */
  cacheBreakpoints?: boolean;
  /** Finds deferred tools by itself. Other models get all tools from the start. */
  toolSearch?: boolean;
  /** messages: summarises long conversations. */
  compaction?: boolean;
  maxOutputTokens?: number;
}

/** Lowers the requested output limit to the model's limit, and calls `lowered` with the reason if it had to. */
export function clampOutput(wanted: number, limit: number | undefined, lowered: (reason: string) => void): number {
  if (limit === undefined || wanted <= limit) return wanted;
  lowered(`the model's limit is ${limit}`);
  return limit;
}
