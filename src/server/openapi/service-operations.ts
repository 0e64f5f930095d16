import { BatchEmbedContentsRequest, EmbedContentRequest, EmbeddingsRequest } from "../../services/embeddings/schema.ts";
import { RerankRequest } from "../../services/rerank/schema.ts";
import { json, type Operation } from "./operation.ts";
import { IMAGE_HEADERS } from "./parameters.ts";
import { BatchEmbedContentsAnswer, EmbedContentAnswer, EmbeddingsAnswer, RerankAnswer } from "./service-answers.ts";

const IN_PATH = ["provider", "model"];

export const createEmbeddings: Operation = {
  method: "post",
  id: "createEmbeddings",
  summary: "Embed texts",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: EmbeddingsRequest,
  answers: [json(EmbeddingsAnswer, "The vectors.")],
};

export const embedContent: Operation = {
  ...createEmbeddings,
  id: "embedContent",
  summary: "Embed one text",
  dialect: "genai",
  parameters: [...IN_PATH, ...IMAGE_HEADERS],
  request: EmbedContentRequest,
  answers: [json(EmbedContentAnswer, "The vector.")],
};

export const batchEmbedContents: Operation = {
  ...embedContent,
  id: "batchEmbedContents",
  summary: "Embed several texts",
  request: BatchEmbedContentsRequest,
  answers: [json(BatchEmbedContentsAnswer, "The vectors.")],
};

export const rerankDocuments: Operation = {
  ...createEmbeddings,
  id: "rerankDocuments",
  summary: "Rank documents by their relevance to a query",
  request: RerankRequest,
  answers: [json(RerankAnswer, "The documents, the best first.")],
};
