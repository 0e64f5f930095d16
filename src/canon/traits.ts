import type { Effort } from "./reasoning.ts";

/** What a model can and cannot do, as far as a request to it depends on it. All of it is data of the catalogue. */
export interface ModelTraits {
  reasoning: boolean;
  /**
   * How the model takes its amount of reasoning: as a word, by a budget of tokens, by a level (a word that excludes a budget), or
   * by a word next to thinking that it doses by itself. Absent: as the target's protocol usually does.
   */
  reasoningForm?: "effort" | "budget" | "level" | "adaptive";
  /** The efforts that the model knows, weakest first; `off` among them where thinking can be switched off. */
  efforts?: readonly Effort[];
  /** The budgets that the model takes; `off` tells whether thinking can be switched off. */
  budget?: { min: number; max: number; off: boolean };
  /** Answers 400 to temperature, top_p and top_k. */
  rejectsSampling?: boolean;
  /** Answers 400 to stop sequences. */
  rejectsStop?: boolean;
  /** Answers 400 to a call in the history without the signature that came with it. */
  demandsSignatures?: boolean;
  /** Takes images and documents inside the result of a tool. */
  mediaInToolResults?: boolean;
  /** Knows an answer's JSON Schema; where it does not, a forced tool call stands in for it. */
  structuredOutput?: boolean;
  /** Takes a form of the answer next to tools; the other models of its dialect answer 400 to both. */
  schemaBesideTools?: boolean;
  /** Goes on from a last message of the assistant's. */
  prefill?: boolean;
  /** messages: takes system messages after what the user says. */
  systemMessages?: boolean;
  /** The dialect that the model was made for: clients of others get more of it there than elsewhere. */
  bestDialect?: string;
  /** The dialect that calls with tools need: the model refuses tools in the others that its vendor serves it in. */
  toolsDialect?: string;
  /** Takes explicit marks of where a cached prefix ends, in the dialects whose hosts otherwise place them by themselves. */
  cacheBreakpoints?: boolean;
  maxOutputTokens?: number;
}
