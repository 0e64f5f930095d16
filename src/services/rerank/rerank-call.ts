import type { JsonObject } from "../../base/json.ts";
import type { Usage } from "../../canon/usage.ts";

/** Documents to be ranked by their relevance to a query. */
export interface RerankCall {
  query: string;
  documents: readonly string[];
  /** How many of the best documents to return; all if absent. */
  topN?: number;
  /** The most tokens of a document that are read. */
  maxTokensPerDocument?: number;
  /** Fields that only some hosts support. */
  extras: JsonObject;
}

export interface RankedDocument {
  /** Its place among the documents of the call. */
  index: number;
  score: number;
}

export interface RerankReply {
  /** The best first. */
  results: readonly RankedDocument[];
  /** Absent if the host does not report it. */
  usage?: Usage;
}
