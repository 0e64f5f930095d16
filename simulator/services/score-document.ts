import { featuresOf } from "./features.ts";

/** From 0 to 1: how much of the query a document is about. */
export function scoreDocument(query: string, document: string): number {
  const wanted = featuresOf(query);
  const found = featuresOf(document);
  let shared = 0;
  for (const [name, weight] of wanted) shared += weight * Math.min(1, found.get(name) ?? 0);
  let whole = 0;
  for (const weight of wanted.values()) whole += weight;
  return Math.round((shared / whole) * 1e6) / 1e6;
}

/** All documents, the best first. */
export function rankDocuments(
  query: string,
  documents: readonly string[],
): { index: number; relevance_score: number }[] {
  return documents
    .map((document, index) => ({ index, relevance_score: scoreDocument(query, document) }))
    .sort((one, other) => other.relevance_score - one.relevance_score || one.index - other.index);
}
