import { refuse } from "../../dialects/reading/check.ts";
import { EMBEDDING_TASKS, type EmbeddingTask } from "./embedding-call.ts";

/** The names of clients and hosts in addition to the canonical ones, in lower case. */
const WORDS: Readonly<Record<string, EmbeddingTask>> = {
  search_query: "query",
  retrieval_query: "query",
  passage: "document",
  search_document: "document",
  retrieval_document: "document",
  semantic_similarity: "similarity",
  code_retrieval_query: "code_query",
};

const UNSPECIFIED = ["", "task_type_unspecified", "none"];

/** Undefined for names that mean no task. */
export function readEmbeddingTask(word: string | undefined, path: string): EmbeddingTask | undefined {
  const plain = word?.toLowerCase() ?? "";
  if (UNSPECIFIED.includes(plain)) return undefined;
  const task = EMBEDDING_TASKS.find((known) => known === plain);
  if (task !== undefined) return task;
  if (Object.hasOwn(WORDS, plain)) return WORDS[plain];
  const shown = JSON.stringify(word?.slice(0, 60));
  return refuse(path, `is ${shown}; it must be one of ${[...EMBEDDING_TASKS, ...Object.keys(WORDS)].join(", ")}`);
}
