// https://ai.google.dev/api/embeddings, https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api

import { arrayAt, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt } from "../../canon/usage.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { EmbeddingAdapter, EmbeddingCapabilities } from "../../services/embeddings/embedding-adapter.ts";
import type { EmbeddingBatch, EmbeddingTask } from "../../services/embeddings/embedding-call.ts";
import type { EmbeddingReply, EmbeddingVector } from "../../services/embeddings/embedding-reply.ts";
import { taskWord } from "../../services/embeddings/fit-embeddings.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { googleError } from "./errors.ts";
import { type GoogleHost, verbPath } from "./host.ts";

const TASKS: Readonly<Record<EmbeddingTask, string>> = {
  query: "RETRIEVAL_QUERY",
  document: "RETRIEVAL_DOCUMENT",
  similarity: "SEMANTIC_SIMILARITY",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
  question_answering: "QUESTION_ANSWERING",
  fact_verification: "FACT_VERIFICATION",
  code_query: "CODE_RETRIEVAL_QUERY",
};

/** Models of the second generation read the task from the text, and refuse the field. */
const isSecond = (model: string): boolean => model.startsWith("gemini-embedding-2");

const WITH_TASKS: Pick<EmbeddingCapabilities, "takes" | "tasks"> = {
  takes: ["dimensions", "task", "title"],
  tasks: TASKS,
};

/** Embeddings at the Gemini API, by `batchEmbedContents`. */
export function geminiEmbeddings(host: GoogleHost): EmbeddingAdapter {
  const capabilities = (model: string): EmbeddingCapabilities => ({
    maxInputs: 100,
    ...(isSecond(model) ? { takes: ["dimensions"] } : WITH_TASKS),
  });
  return {
    serves: () => true,
    capabilities,
    submit: ({ inputs, settings }, context) => {
      const shared = fieldsOf(settings, capabilities(context.model));
      const takesTitle = capabilities(context.model).takes.includes("title");
      const requests = inputs.map(({ content, title }) => ({
        model: `models/${context.model}`,
        content: { parts: [{ text: content }] },
        ...shared,
        ...(title === undefined || !takesTitle ? {} : { title }),
      }));
      return request(host, context, "batchEmbedContents", { requests });
    },
    read: ({ body }) => {
      const vectors = arrayAt(body, "embeddings").map(valuesOf);
      if (vectors.length === 0) throw emptyAnswer("an embedding");
      return { vectors, ...usageOf(countAt(objectAt(body, "usageMetadata"), "promptTokenCount")) };
    },
    error: googleError,
  };
}

/** Embeddings at Vertex AI: by `predict`, or of the newer models by `embedContent`, one text at a time. */
export function vertexEmbeddings(host: GoogleHost): EmbeddingAdapter[] {
  const predicts = (model: string) => !model.startsWith("gemini-") || model.startsWith("gemini-embedding-001");
  return [
    {
      serves: predicts,
      capabilities: predictCapabilities,
      submit: (batch, context) => request(host, context, "predict", predictBody(batch, context.model)),
      read: readPredictions,
      error: googleError,
    },
    {
      serves: (model) => !predicts(model),
      capabilities: () => ({ maxInputs: 1, takes: ["dimensions", "truncate"] }),
      submit: ({ inputs: [input], settings: { dimensions, truncate } }, context) => {
        const config = {
          ...withoutAbsent({ outputDimensionality: dimensions, autoTruncate: truncate }),
        };
        return request(host, context, "embedContent", {
          content: { role: "user", parts: [{ text: input?.content }] },
          ...(Object.keys(config).length === 0 ? {} : { embedContentConfig: config }),
        });
      },
      read: ({ body }) => ({
        vectors: [valuesOf(objectAt(body, "embedding"))],
        ...usageOf(countAt(objectAt(body, "usageMetadata"), "promptTokenCount")),
      }),
      error: googleError,
    },
  ];
}

/** The newest model of this method takes one text; the others as many as these, and tokens. */
const predictCapabilities = (model: string): EmbeddingCapabilities => ({
  ...(model.startsWith("gemini-") ? { maxInputs: 1 } : { maxInputs: 250, maxTokens: 15_000 }),
  tasks: TASKS,
  takes: ["dimensions", "task", "title", "truncate"],
});

function predictBody({ inputs, settings }: EmbeddingBatch, model: string): JsonObject {
  const task = taskWord(settings.task, predictCapabilities(model));
  const { dimensions, truncate } = settings;
  const parameters = {
    ...withoutAbsent({ outputDimensionality: dimensions, autoTruncate: truncate }),
  };
  const instances = inputs.map(({ content, title }) => ({
    content,
    ...withoutAbsent({ task_type: task, title }),
  }));
  return { instances, ...(Object.keys(parameters).length === 0 ? {} : { parameters }) };
}

function readPredictions({ body }: MediaAnswer): EmbeddingReply {
  const found = arrayAt(body, "predictions").map((prediction) => objectAt(prediction, "embeddings"));
  if (found.length === 0) throw emptyAnswer("an embedding");
  const counts = found.map((embedding) => countAt(objectAt(embedding, "statistics"), "token_count"));
  const total = counts.every((count) => count !== undefined)
    ? counts.reduce<number>((sum, count) => sum + count, 0)
    : 0;
  return { vectors: found.map(valuesOf), ...usageOf(total) };
}

const fieldsOf = (
  { dimensions, task }: EmbeddingBatch["settings"],
  capabilities: EmbeddingCapabilities,
): JsonObject => {
  const word = taskWord(task, capabilities);
  return {
    ...withoutAbsent({ taskType: word, outputDimensionality: dimensions }),
  };
};

const request = (host: GoogleHost, context: AdapterContext, verb: string, json: JsonObject): MediaRequest => ({
  method: "POST",
  url: verbPath(host, context, verb),
  body: { json },
});

const valuesOf = (embedding: unknown): EmbeddingVector => arrayAt(embedding, "values") as readonly number[];

/** Not every host reports the number of tokens. */
const usageOf = (input: number | undefined): Pick<EmbeddingReply, "usage"> => (input ? { usage: { input } } : {});
