import type { JsonObject } from "../../base/json.ts";

/** What the vectors are for. Models that were trained for it return better ones when they know. */
export const EMBEDDING_TASKS = [
  "query",
  "document",
  "similarity",
  "classification",
  "clustering",
  "question_answering",
  "fact_verification",
  "code_query",
] as const;

export type EmbeddingTask = (typeof EMBEDDING_TASKS)[number];

/** How inputs are embedded. Inputs with the same settings have the same object. */
export interface EmbeddingSettings {
  dimensions?: number;
  task?: EmbeddingTask;
  /** Whether long input is truncated; the host decides if absent. */
  truncate?: boolean;
}

/** The input of one vector: a text, or its tokens as the model counts them. */
export interface EmbeddingInput {
  content: string | readonly number[];
  /** The title of the document that the text is from. */
  title?: string;
  settings: EmbeddingSettings;
}

/** A call for embeddings, independent of the protocol. */
export interface EmbeddingCall {
  inputs: readonly EmbeddingInput[];
  /** Fields that only some hosts support. */
  extras: JsonObject;
}

/** The input of one request to a provider. */
export interface EmbeddingBatch extends EmbeddingCall {
  settings: EmbeddingSettings;
}

/** The fields of a call that a host may not support. */
export type EmbeddingField = "input" | "dimensions" | "task" | "title" | "truncate";
