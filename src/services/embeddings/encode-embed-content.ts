import { promptTokens } from "../../canon/usage.ts";
import type { EmbeddingAnswer } from "./embedding-protocol.ts";
import type { EmbeddingVector } from "./embedding-reply.ts";
import { numbersOf } from "./vector-form.ts";

const valuesOf = (vector: EmbeddingVector | undefined): string => `"values":${JSON.stringify(numbersOf(vector ?? []))}`;

const usageOf = ({ usage }: EmbeddingAnswer): string =>
  `"usageMetadata":${JSON.stringify({ promptTokenCount: promptTokens(usage), totalTokenCount: promptTokens(usage) })}`;

/** Writes the response of `:embedContent`. */
export function* encodeEmbedContent(answer: EmbeddingAnswer): Generator<string> {
  yield `{"embedding":{${valuesOf(answer.vectors[0])}},${usageOf(answer)}}`;
}

/** Writes the response of `:batchEmbedContents`. */
export function* encodeBatchEmbedContents(answer: EmbeddingAnswer): Generator<string> {
  yield '{"embeddings":[';
  for (const [index, vector] of answer.vectors.entries()) yield `${index === 0 ? "" : ","}{${valuesOf(vector)}}`;
  yield `],${usageOf(answer)}}`;
}

/** Writes the response of `:predict`. The protocol counts tokens per text. Only their sum is known, so the first has it. */
export function* encodePredictEmbeddings(answer: EmbeddingAnswer): Generator<string> {
  yield '{"predictions":[';
  for (const [index, vector] of answer.vectors.entries()) {
    const tokens = index === 0 ? promptTokens(answer.usage) : 0;
    const statistics = JSON.stringify({ token_count: tokens, truncated: false });
    yield `${index === 0 ? "" : ","}{"embeddings":{${valuesOf(vector)},"statistics":${statistics}}}`;
  }
  yield "]}";
}
