import type { JsonObject } from "../base/json.ts";
import type { FieldNames } from "./field-names.ts";
import type { CacheAge, Part, TextPart } from "./part.ts";
import type { ReasoningRequest } from "./reasoning.ts";
import type { Tool, ToolChoice } from "./tool.ts";

/** One step of a conversation. Results of tools stand in the user's turns; a system turn is one that came in the middle. */
export interface Turn {
  role: "user" | "assistant" | "system";
  parts: readonly Part[];
  /** A participant's name, where the client gave one. */
  name?: string;
  path: string;
  extras?: JsonObject;
}

/** What form the answer must have. Plain text where absent. */
export type OutputFormat =
  | { type: "json" }
  | {
      type: "schema";
      /** JSON Schema. */
      schema: JsonObject;
      name?: string;
      description?: string;
      strict?: boolean;
      /** The answer is one of the schema's words, without quotes around it. */
      word?: boolean;
    };

/** The settings of a call that are single values, by their canonical names. */
export interface CallSettings {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stop?: readonly string[];
  /** Log probabilities of the answer's tokens, with so many alternatives each. */
  logprobs?: number;
  logitBias?: JsonObject;
  candidateCount?: number;
  verbosity?: "low" | "medium" | "high";
  parallelTools?: boolean;
  /** Who the caller's own user is, for the provider's abuse detection. */
  userId?: string;
  cachedContent?: string;
  /** The whole prompt is to be cached up to its last block; with `explicit`, up to the marks in it and no further. */
  cache?: { ttl?: CacheAge; explicit?: true };
}

/** A request in canonical form: no protocol's wire format, but the meaning of all. */
export interface CanonCall extends CallSettings {
  /** The dialect it was asked in. */
  dialect: string;
  /** How that dialect spells fields that may have to be reported. */
  fieldNames: FieldNames;
  system: readonly TextPart[];
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice?: ToolChoice;
  format?: OutputFormat;
  reasoning?: ReasoningRequest;
  /** Where each setting stood in the client's request, for the receipt. */
  paths: Readonly<Partial<Record<keyof CallSettings | "toolChoice" | "format", string>>>;
  /** Fields of the request that only its own dialect knows. */
  extras: readonly Extra[];
}

export interface Extra {
  /** Names of the fields on the way there, such as `["generationConfig", "speechConfig"]`. */
  keys: readonly string[];
  value: unknown;
}

export const pathOfExtra = ({ keys }: Extra): string => keys.join(".");
