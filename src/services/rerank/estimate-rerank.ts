import type { Usage } from "../../canon/usage.ts";
import { estimateInput } from "../../dialects/reading/estimate-tokens.ts";
import type { RerankAdapter } from "./rerank-adapter.ts";
import type { RerankCall } from "./rerank-call.ts";

/** One search is a query with up to this many documents. */
const DOCUMENTS_PER_SEARCH = 100;

/** Estimates the usage of a ranking: the model reads the query with each document. */
export function estimateRerank({ query, documents }: RerankCall, billedBy: RerankAdapter["billedBy"]): Usage {
  if (billedBy === "searches") return { searches: Math.ceil(documents.length / DOCUMENTS_PER_SEARCH) };
  return { input: estimateInput(documents) + estimateInput(query) * documents.length };
}
