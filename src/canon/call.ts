import type { JsonObject } from "../base/json.ts";
import type { FieldNames } from "./field-names.ts";
import type { CacheAge, Part, TextPart } from "./part.ts";
import type { ReasoningRequest } from "./reasoning.ts";
import type { Tool, ToolChoice } from "./tool.ts";

/** One step of a conversation. Tool results are in user turns. A system turn is a system message within the conversation. */
export interface Turn {
  role: "user" | "assistant" | "system";
  parts: readonly Part[];
  /** The participant's name, if the client set one. */
  name?: string;
  path: string;
  extras?: JsonObject;
}

/** The required form of the response. Plain text if absent. */
export type OutputFormat =
  | { type: "json" }
  | {
      type: "schema";
      /** JSON Schema. */
      schema: JsonObject;
      name?: string;
      description?: string;
      strict?: boolean;
      /** The response is one of the schema's enum values, without quotes. */
      word?: boolean;
    };

/** Settings with a single value, by their canonical names. */
export interface CallSettings {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stop?: readonly string[];
  /** Return log probabilities of the output tokens, with this many alternatives each. */
  logprobs?: number;
  logitBias?: JsonObject;
  candidateCount?: number;
  verbosity?: "low" | "medium" | "high";
  parallelTools?: boolean;
  /** The caller's end user, for the provider's abuse detection. */
  userId?: string;
  cachedContent?: string;
  /** Let the provider summarise the conversation, once it is this long. */
  compaction?: { afterTokens?: number };
  /** Cache the whole prompt up to its last block or, with `explicit`, only up to the marks in it. */
  cache?: { ttl?: CacheAge; explicit?: true };
}

/** A request in canonical form: the common meaning of all protocols, in none of their wire formats. */
export interface CanonCall extends CallSettings {
  /** The dialect of the client. */
  dialect: string;
  /** How that dialect spells fields that notes may mention. */
  fieldNames: FieldNames;
  system: readonly TextPart[];
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice?: ToolChoice;
  format?: OutputFormat;
  reasoning?: ReasoningRequest;
  /** The path of each setting in the client's request, for the receipt. */
  paths: Readonly<Partial<Record<keyof CallSettings | "toolChoice" | "format", string>>>;
  /** Fields that exist only in the client's dialect. */
  extras: readonly Extra[];
}

export interface Extra {
  /** Names of the enclosing fields and of the field, such as `["generationConfig", "speechConfig"]`. */
  keys: readonly string[];
  value: unknown;
  /** The call has the same in canonical form, except for what is at these paths. */
  crosses?: { as: "compaction" | "mcp"; without: readonly string[] };
}

export const pathOfExtra = ({ keys }: Extra): string => keys.join(".");
