import { arrayAt, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt } from "../../canon/usage.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import type { EmbeddingCapabilities } from "../../services/embeddings/embedding-adapter.ts";
import type { EmbeddingBatch } from "../../services/embeddings/embedding-call.ts";
import type { EmbeddingReply, EmbeddingVector } from "../../services/embeddings/embedding-reply.ts";
import { taskWord } from "../../services/embeddings/fit-embeddings.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";

/** The vendor's models, wherever they are hosted. Newer ones have several sizes. */
export const cohereCapabilities = (hasSizes: boolean): EmbeddingCapabilities => ({
  maxInputs: 96,
  takes: hasSizes ? ["dimensions", "truncate"] : ["truncate"],
  tasks: {
    query: "search_query",
    document: "search_document",
    classification: "classification",
    clustering: "clustering",
  },
  nearest: {
    similarity: "clustering",
    question_answering: "search_query",
    fact_verification: "search_query",
    code_query: "search_query",
  },
});

/** The models need a task; texts without one are documents. */
const NO_TASK = "search_document";

export function cohereEmbedBody({ inputs, settings }: EmbeddingBatch, capabilities: EmbeddingCapabilities): JsonObject {
  const { dimensions, truncate } = settings;
  return {
    texts: inputs.map(({ content }) => content),
    input_type: taskWord(settings.task, capabilities) ?? NO_TASK,
    embedding_types: ["float"],
    ...withoutAbsent({
      output_dimension: dimensions,
      truncate: truncate === undefined ? undefined : truncate ? "END" : "NONE",
    }),
  };
}

/** Reads `{ embeddings: { float } }`; older answers have the vectors without their type. */
export function readCohereEmbeddings({ body, headers }: MediaAnswer): EmbeddingReply {
  const typed = objectAt(body, "embeddings");
  const vectors = typed === undefined ? arrayAt(body, "embeddings") : arrayAt(typed, "float");
  if (vectors.length === 0) throw emptyAnswer("an embedding");
  const billed = countAt(objectAt(objectAt(body, "meta"), "billed_units"), "input_tokens");
  // A cloud that hosts them counts in a header.
  const input = billed ?? (Number(headers?.get("x-amzn-bedrock-input-token-count") ?? 0) || undefined);
  return { vectors: vectors as readonly EmbeddingVector[], ...(input === undefined ? {} : { usage: { input } }) };
}
