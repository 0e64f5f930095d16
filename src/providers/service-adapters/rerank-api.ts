import { arrayAt, type JsonObject, numberAt, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt } from "../../canon/usage.ts";
import type { AdapterContext, MediaAnswer } from "../../media/adapter.ts";
import type { RerankAdapter } from "../../services/rerank/rerank-adapter.ts";
import type { RankedDocument, RerankCall, RerankReply } from "../../services/rerank/rerank-call.ts";
import type { CodeTable } from "../media-adapters/code-table.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";

/** Differences between hosts of `/rerank`. */
interface RerankHost extends Pick<RerankAdapter, "limitsDocuments" | "billedBy" | "maxDocuments"> {
  serves?: (model: string) => boolean;
  /** Default: `/rerank`. */
  path?: string;
  /** The host's name of `top_n`. */
  topName?: string;
  /** The path of its results; default: `results`. */
  resultsName?: string;
  extras: readonly string[] | "all";
  codes: CodeTable;
}

/** An adapter for a host whose API takes `{ model, query, documents, top_n }`. */
export function rerankApi(host: RerankHost): RerankAdapter {
  const { serves = () => true, path = "/rerank", resultsName = "results", codes } = host;
  return {
    serves,
    maxDocuments: host.maxDocuments,
    billedBy: host.billedBy,
    ...(host.limitsDocuments ? { limitsDocuments: true } : {}),
    submit: (call, context) => ({ method: "POST", url: path, body: { json: rerankBody(call, context, host) } }),
    read: (answer) => readRanking(answer, resultsName),
    error: (answer) => mediaFailure(answer, codes),
  };
}

function rerankBody(call: RerankCall, { model }: AdapterContext, host: RerankHost): JsonObject {
  const { topN, maxTokensPerDocument } = call;
  return {
    ...(host.extras === "all" ? call.extras : pickExtras(call.extras, host.extras)),
    model,
    query: call.query,
    documents: call.documents,
    ...withoutAbsent({ [host.topName ?? "top_n"]: topN }),
    ...(maxTokensPerDocument === undefined || !host.limitsDocuments
      ? {}
      : { max_tokens_per_doc: maxTokensPerDocument }),
  };
}

/** Reads the results, and the usage from one of the usual places. */
export function readRanking({ body }: MediaAnswer, resultsName = "results"): RerankReply {
  const results = arrayAt(body, resultsName).map(
    (result): RankedDocument => ({
      index: numberAt(result, "index") ?? -1,
      score: numberAt(result, "relevance_score") ?? Number.NaN,
    }),
  );
  // Every request has documents, so a response without results is invalid and costs nothing.
  if (results.length === 0) throw emptyAnswer("a ranking");
  const searches = countAt(objectAt(objectAt(body, "meta"), "billed_units"), "search_units");
  const tokens = countAt(objectAt(body, "usage"), "total_tokens");
  if (searches !== undefined) return { results, usage: { searches } };
  return { results, ...(tokens ? { usage: { input: tokens } } : {}) };
}
