// https://docs.cohere.com/reference/embed, https://docs.cohere.com/reference/rerank

import type { EmbeddingAdapter, EmbeddingCapabilities } from "../../services/embeddings/embedding-adapter.ts";
import type { RerankAdapter } from "../../services/rerank/rerank-adapter.ts";
import type { ServiceDeclaration } from "../../services/service-adapters.ts";
import { mediaFailure } from "../media-adapters/media-failure.ts";
import { rerankApi } from "../service-adapters/rerank-api.ts";
import { cohereCapabilities, cohereEmbedBody, readCohereEmbeddings } from "./embed-form.ts";

const isReranker = (model: string): boolean => model.includes("rerank");

const embeddings: EmbeddingAdapter = {
  serves: (model) => !isReranker(model),
  capabilities: (model): EmbeddingCapabilities => cohereCapabilities(/v[4-9]/.test(model)),
  submit: (batch, { model }) => ({
    method: "POST",
    url: "/v2/embed",
    body: { json: { model, ...cohereEmbedBody(batch, cohereCapabilities(/v[4-9]/.test(model))) } },
  }),
  read: readCohereEmbeddings,
  error: (answer) => mediaFailure(answer, []),
};

export const cohereRerank: RerankAdapter = rerankApi({
  serves: isReranker,
  path: "/v2/rerank",
  maxDocuments: 1000,
  limitsDocuments: true,
  billedBy: "searches",
  extras: [],
  codes: [],
});

/** Both are at its native endpoint, not at the compatible one. */
export const cohereServices: ServiceDeclaration = {
  base: (baseUrl) => baseUrl.replace(/\/compatibility\/v1$/, ""),
  embeddings: [embeddings],
  rerank: [cohereRerank],
};
