// https://docs.voyageai.com/reference/embeddings-api

import { stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { bearer } from "../auth.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";
import type { ProviderDeclaration } from "../provider.ts";
import { embeddingsApi } from "../service-adapters/embeddings-api.ts";
import { rerankApi } from "../service-adapters/rerank-api.ts";

/** `{ detail }` */
const readError = (answer: MediaAnswer): GatewayError =>
  failedAnswer(answer, { message: stringAt(answer.body, "detail"), code: undefined, kind: undefined });

const isReranker = (model: string): boolean => model.includes("rerank");

/** Models of the second generation have one size. */
const hasSizes = (model: string): boolean => !/-2$/.test(model);

/** Only embeddings and rerankers. */
export const voyage: ProviderDeclaration = {
  kind: "voyage",
  publishers: ["voyage"],
  variables: { api_key: "VOYAGE_API_KEY" },
  fields: { required: ["api_key"], optional: [] },
  baseUrl: () => "https://api.voyageai.com/v1",
  authenticate: bearer,
  dialects: {},
  services: {
    embeddings: [
      {
        ...embeddingsApi({
          serves: (model) => !isReranker(model),
          capabilities: (model) => ({
            maxInputs: 1000,
            maxTokens: 100_000,
            takes: hasSizes(model) ? ["dimensions", "truncate"] : ["truncate"],
            tasks: { query: "query", document: "document" },
            nearest: { question_answering: "query", fact_verification: "query", code_query: "query" },
          }),
          base64: true,
          names: { dimensions: "output_dimension", truncate: "truncation" },
          extras: [],
          codes: [],
        }),
        error: readError,
      },
    ],
    rerank: [
      {
        ...rerankApi({
          serves: isReranker,
          maxDocuments: 1000,
          billedBy: "tokens",
          topName: "top_k",
          resultsName: "data",
          extras: ["truncation"],
          codes: [],
        }),
        error: readError,
      },
    ],
  },
};
