// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html

import { isObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt } from "../../canon/usage.ts";
import type { AdapterContext, MediaRequest } from "../../media/adapter.ts";
import type { EmbeddingAdapter } from "../../services/embeddings/embedding-adapter.ts";
import type { EmbeddingVector } from "../../services/embeddings/embedding-reply.ts";
import type { RerankAdapter } from "../../services/rerank/rerank-adapter.ts";
import type { ServiceDeclaration } from "../../services/service-adapters.ts";
import { cohereCapabilities, cohereEmbedBody, readCohereEmbeddings } from "../cohere/embed-form.ts";
import type { CodeTable } from "../media-adapters/code-table.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { readRanking } from "../service-adapters/rerank-api.ts";

/** Errors that the status alone does not identify. */
const CODES: CodeTable = [];

function invoke({ model }: AdapterContext, json: Readonly<Record<string, unknown>>): MediaRequest {
  return { method: "POST", url: `/model/${encodeURIComponent(model)}/invoke`, body: { json } };
}

/** One text in each request. */
const titan: EmbeddingAdapter = {
  serves: (model) => model.includes("amazon.titan-embed"),
  capabilities: (model) => ({ maxInputs: 1, takes: model.includes("-v2") ? ["dimensions"] : [] }),
  submit: ({ inputs, settings: { dimensions } }, context) =>
    invoke(context, { inputText: inputs[0]?.content, ...withoutAbsent({ dimensions }) }),
  read: ({ body }) => {
    const vector = isObject(body) ? body["embedding"] : undefined;
    if (vector === undefined) throw emptyAnswer("an embedding");
    const input = countAt(body, "inputTextTokenCount");
    return { vectors: [vector as EmbeddingVector], ...(input === undefined ? {} : { usage: { input } }) };
  },
  error: (answer) => mediaFailure(answer, CODES),
};

const hasSizes = (model: string): boolean => /embed-v[4-9]/.test(model);

const cohere: EmbeddingAdapter = {
  serves: (model) => model.includes("cohere.embed"),
  capabilities: (model) => cohereCapabilities(hasSizes(model)),
  submit: (batch, context) => invoke(context, cohereEmbedBody(batch, cohereCapabilities(hasSizes(context.model)))),
  read: readCohereEmbeddings,
  error: (answer) => mediaFailure(answer, CODES),
};

const rerank: RerankAdapter = {
  serves: (model) => /\b(?:cohere|amazon)\.rerank/.test(model),
  maxDocuments: 1000,
  billedBy: "searches",
  submit: ({ query, documents, topN }, context) =>
    invoke(context, {
      query,
      documents,
      ...withoutAbsent({ top_n: topN }),
      // The vendor's models need to know which version of its API is meant.
      ...(context.model.includes("cohere.") ? { api_version: 2 } : {}),
    }),
  read: (answer) => readRanking(answer),
  error: (answer) => mediaFailure(answer, CODES),
};

export const bedrockServices: ServiceDeclaration = { embeddings: [titan, cohere], rerank: [rerank] };
