import type { Usage } from "../../canon/usage.ts";
import { estimateInput } from "../../dialects/reading/estimate-tokens.ts";
import type { RerankAdapter } from "./rerank-adapter.ts";
import type { RerankCall } from "./rerank-call.ts";

/** One search is a query with up to so many documents. */
const DOCUMENTS_PER_SEARCH = 100;

/** What a ranking uses, about: the model reads the query with each of the documents. */
export function estimateRerank({ query, documents }: RerankCall, billedBy: RerankAdapter["billedBy"]): Usage {
  if (billedBy === "searches") return { searches: Math.ceil(documents.length / DOCUMENTS_PER_SEARCH) };
  return { input: estimateInput(documents) + estimateInput(query) * documents.length };
}
