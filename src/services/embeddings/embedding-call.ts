import type { JsonObject } from "../../base/json.ts";

/** What the vectors are for; models that were trained for it make better ones when they know. */
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
  /** Whether what is too long is cut off; the host's own way where absent. */
  truncate?: boolean;
}

/** What one vector is made of: a text, or the tokens of one as its model counts them. */
export interface EmbeddingInput {
  content: string | readonly number[];
  /** Of the document that the text is from. */
  title?: string;
  settings: EmbeddingSettings;
}

/** A call for embeddings, in no protocol's form. */
export interface EmbeddingCall {
  inputs: readonly EmbeddingInput[];
  /** Fields that only some hosts know. */
  extras: JsonObject;
}

/** What one request to a provider asks for. */
export interface EmbeddingBatch extends EmbeddingCall {
  settings: EmbeddingSettings;
}

/** The fields of a call that a host may not know. */
export type EmbeddingField = "input" | "dimensions" | "task" | "title" | "truncate";
