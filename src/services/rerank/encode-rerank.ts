import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { promptTokens } from "../../canon/usage.ts";
import type { DecodedRerank } from "./decode-rerank.ts";
import type { RerankReply } from "./rerank-call.ts";

/** Writes the response of `rerank`. `id` is the gateway's id of the call, `model` the model's name in the response. */
export function encodeRerank(
  { results, usage = {} }: RerankReply,
  { returned }: DecodedRerank,
  { id, model }: { id: string; model: string },
): JsonObject {
  const tokens = promptTokens(usage);
  return {
    id,
    model,
    results: results.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returned === undefined ? {} : { document: returned[index] }),
    })),
    meta: {
      api_version: { version: "2" },
      billed_units: withoutAbsent({
        search_units: usage.searches,
        ...(tokens === 0 ? {} : { input_tokens: tokens }),
      }),
    },
  };
}
