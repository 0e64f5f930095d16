import { sumUsage, type Usage } from "../../canon/usage.ts";
import type { RerankCall, RerankReply } from "./rerank-call.ts";

/** A part of the documents, starting at an index. */
export interface RerankPart extends RerankCall {
  from: number;
}

/** Splits the documents into parts that a host accepts. A document's score does not depend on the others. */
export function splitDocuments(call: RerankCall, maxDocuments: number): RerankPart[] {
  const parts: RerankPart[] = [];
  for (let from = 0; from < call.documents.length; from += maxDocuments) {
    const documents = call.documents.slice(from, from + maxDocuments);
    const { topN } = call;
    parts.push({ ...call, documents, from, ...(topN === undefined ? {} : { topN: Math.min(topN, documents.length) }) });
  }
  return parts;
}

/** One ranking of all documents, the best first. */
export function mergeRankings(
  { topN }: RerankCall,
  parts: readonly RerankPart[],
  replies: readonly RerankReply[],
): RerankReply {
  const results = replies
    .flatMap((reply, place) =>
      reply.results.map(({ index, score }) => ({ index: index + (parts[place]?.from ?? 0), score })),
    )
    .sort((one, other) => other.score - one.score || one.index - other.index);
  const usages = replies.flatMap(({ usage }) => usage ?? []);
  return {
    results: topN === undefined ? results : results.slice(0, topN),
    ...(usages.length === 0 ? {} : { usage: usages.reduce<Usage>(sumUsage, {}) }),
  };
}
