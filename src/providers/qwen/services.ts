// https://www.alibabacloud.com/help/en/model-studio/text-embedding-synchronous-api

import { arrayAt, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt } from "../../canon/usage.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import type { EmbeddingAdapter, EmbeddingCapabilities } from "../../services/embeddings/embedding-adapter.ts";
import type { EmbeddingReply } from "../../services/embeddings/embedding-reply.ts";
import { taskWord } from "../../services/embeddings/fit-embeddings.ts";
import type { RerankAdapter } from "../../services/rerank/rerank-adapter.ts";
import type { RerankCall } from "../../services/rerank/rerank-call.ts";
import type { ServiceDeclaration } from "../../services/service-adapters.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { placeVectors } from "../service-adapters/place-vectors.ts";
import { readRanking, rerankApi } from "../service-adapters/rerank-api.ts";
import { readError } from "./errors.ts";

const isReranker = (model: string): boolean => model.includes("rerank");

const CAPABILITIES: EmbeddingCapabilities = {
  maxInputs: 10,
  takes: ["dimensions"],
  tasks: { query: "query", document: "document" },
  nearest: { question_answering: "query", fact_verification: "query", code_query: "query" },
};

/** The native form: the compatible one does not support tasks. */
const embeddings: EmbeddingAdapter = {
  serves: (model) => !isReranker(model),
  capabilities: () => CAPABILITIES,
  submit: ({ inputs, settings }, { model }) => {
    const task = taskWord(settings.task, CAPABILITIES);
    const { dimensions } = settings;
    const parameters = {
      ...withoutAbsent({ dimension: dimensions, text_type: task }),
    };
    const input = { texts: inputs.map(({ content }) => content) };
    return {
      method: "POST",
      url: "/api/v1/services/embeddings/text-embedding/text-embedding",
      body: { json: { model, input, parameters } },
    };
  },
  read: readEmbeddings,
  error: readError,
};

function readEmbeddings({ body }: MediaAnswer): EmbeddingReply {
  const found = arrayAt(objectAt(body, "output"), "embeddings");
  if (found.length === 0) throw emptyAnswer("an embedding");
  const input = countAt(objectAt(body, "usage"), "total_tokens");
  return { vectors: placeVectors(found, "text_index"), ...(input ? { usage: { input } } : {}) };
}

const MAX_DOCUMENTS = 500;

/** Models before the compatible endpoint. */
const nativeRerank: RerankAdapter = {
  serves: (model) => isReranker(model) && !isCompatible(model),
  maxDocuments: MAX_DOCUMENTS,
  billedBy: "tokens",
  submit: ({ query, documents, topN }: RerankCall, { model }) => ({
    method: "POST",
    url: "/api/v1/services/rerank/text-rerank/text-rerank",
    body: {
      json: { model, input: { query, documents }, parameters: topN === undefined ? {} : { top_n: topN } },
    },
  }),
  read: (answer) => {
    const { usage } = readRanking(answer);
    const { results } = readRanking({ ...answer, body: objectAt(answer.body, "output") });
    return { results, ...withoutAbsent({ usage }) };
  },
  error: readError,
};

const isCompatible = (model: string): boolean => /^qwen\d+-rerank/.test(model);

const compatibleRerank: RerankAdapter = {
  ...rerankApi({
    path: "/compatible-api/v1/reranks",
    maxDocuments: MAX_DOCUMENTS,
    billedBy: "tokens",
    extras: ["instruct"],
    codes: [],
  }),
  serves: isCompatible,
  error: readError,
};

export const qwenServices: ServiceDeclaration = {
  base: (baseUrl) => baseUrl.replace(/\/compatible-mode\/v1$/, ""),
  embeddings: [embeddings],
  rerank: [compatibleRerank, nativeRerank],
};
