import { isObject, numberAt } from "../../base/json.ts";
import type { EmbeddingVector } from "../../services/embeddings/embedding-reply.ts";

/**
 * The vectors of an answer in the order of their inputs: hosts need not keep it. A place that no vector has stays empty, and whether the
 * others are vectors is checked for all hosts alike.
 */
export function placeVectors(items: readonly unknown[], indexName: string): EmbeddingVector[] {
  const vectors = new Array<EmbeddingVector>(items.length);
  for (const [place, item] of items.entries()) {
    const index = numberAt(item, indexName) ?? place;
    if (index in items && isObject(item)) vectors[index] = item["embedding"] as EmbeddingVector;
  }
  return vectors;
}
