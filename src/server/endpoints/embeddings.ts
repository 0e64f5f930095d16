import { relayEmbeddings } from "../../relay/service/embeddings.ts";
import type { EmbeddingProtocol } from "../../services/embeddings/embedding-protocol.ts";
import { BATCH_EMBED_CONTENTS, EMBED_CONTENT, EMBEDDINGS } from "../../services/embeddings/protocols.ts";
import { BatchEmbedContentsRequest, EmbedContentRequest, EmbeddingsRequest } from "../../services/embeddings/schema.ts";
import { incomingAtVerb, incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { IMAGE_HEADERS, MODEL_IN_PATH } from "../openapi/parameters.ts";
import { BatchEmbedContentsAnswer, EmbedContentAnswer, EmbeddingsAnswer } from "../openapi/service-answers.ts";
import type { Handler } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths, verbEndpointPaths } from "./paths.ts";

const embedAtVerb =
  (protocol: EmbeddingProtocol): Handler =>
  (routed, { gateway }) =>
    relayEmbeddings(incomingAtVerb(routed), gateway, protocol);

export const createEmbeddings: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/embeddings"),
  id: "createEmbeddings",
  summary: "Embed texts",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: EmbeddingsRequest,
  answers: [json(EmbeddingsAnswer, "The vectors.")],
  handle: (routed, { gateway }) => relayEmbeddings(incomingRequest(routed), gateway, EMBEDDINGS),
};

export const embedContent: ClientEndpoint = {
  method: "POST",
  paths: verbEndpointPaths("embedContent"),
  id: "embedContent",
  summary: "Embed one text",
  dialect: "genai",
  parameters: [...MODEL_IN_PATH, ...IMAGE_HEADERS],
  request: EmbedContentRequest,
  answers: [json(EmbedContentAnswer, "The vector.")],
  handle: embedAtVerb(EMBED_CONTENT),
};

export const batchEmbedContents: ClientEndpoint = {
  ...embedContent,
  paths: verbEndpointPaths("batchEmbedContents"),
  id: "batchEmbedContents",
  summary: "Embed several texts",
  request: BatchEmbedContentsRequest,
  answers: [json(BatchEmbedContentsAnswer, "The vectors.")],
  handle: embedAtVerb(BATCH_EMBED_CONTENTS),
};
