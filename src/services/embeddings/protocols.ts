import { promptTokens } from "../../canon/usage.ts";
import { decodeBatchEmbedContents, decodeEmbedContent, decodePredictEmbeddings } from "./decode-embed-content.ts";
import { decodeEmbeddings } from "./decode-embeddings.ts";
import type { EmbeddingAnswer, EmbeddingProtocol, EmbeddingRequest } from "./embedding-protocol.ts";
import type { EmbeddingVector } from "./embedding-reply.ts";
import { base64Of, numbersOf } from "./vector-form.ts";

/** `embeddings` */
export const EMBEDDINGS: EmbeddingProtocol = { decode: decodeEmbeddings, encode: encodeEmbeddings };

/** `:embedContent` */
export const EMBED_CONTENT: EmbeddingProtocol = { decode: decodeEmbedContent, encode: encodeEmbedContent };

/** `:batchEmbedContents` */
export const BATCH_EMBED_CONTENTS: EmbeddingProtocol = {
  decode: decodeBatchEmbedContents,
  encode: encodeBatchEmbedContents,
};

/** `:predict`, for embedding models. */
export const PREDICT_EMBEDDINGS: EmbeddingProtocol = {
  decode: decodePredictEmbeddings,
  encode: encodePredictEmbeddings,
};

/** Writes the response of `embeddings`. */
function* encodeEmbeddings({ vectors, usage, model }: EmbeddingAnswer, { encoding }: EmbeddingRequest) {
  yield '{"object":"list","data":[';
  for (const [index, vector] of vectors.entries()) {
    const embedding = JSON.stringify(encoding === "base64" ? base64Of(vector) : numbersOf(vector));
    yield `${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":${embedding}}`;
  }
  const tokens = promptTokens(usage);
  const rest = { model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
  yield `],${JSON.stringify(rest).slice(1)}`;
}

const valuesOf = (vector: EmbeddingVector | undefined): string => `"values":${JSON.stringify(numbersOf(vector ?? []))}`;

const usageOf = ({ usage }: EmbeddingAnswer): string =>
  `"usageMetadata":${JSON.stringify({ promptTokenCount: promptTokens(usage), totalTokenCount: promptTokens(usage) })}`;

/** Writes the response of `:embedContent`. */
function* encodeEmbedContent(answer: EmbeddingAnswer): Generator<string> {
  yield `{"embedding":{${valuesOf(answer.vectors[0])}},${usageOf(answer)}}`;
}

/** Writes the response of `:batchEmbedContents`. */
function* encodeBatchEmbedContents(answer: EmbeddingAnswer): Generator<string> {
  yield '{"embeddings":[';
  for (const [index, vector] of answer.vectors.entries()) yield `${index === 0 ? "" : ","}{${valuesOf(vector)}}`;
  yield `],${usageOf(answer)}}`;
}

/** Writes the response of `:predict`. The protocol counts tokens per text. Only their sum is known, so the first has it. */
function* encodePredictEmbeddings(answer: EmbeddingAnswer): Generator<string> {
  yield '{"predictions":[';
  for (const [index, vector] of answer.vectors.entries()) {
    const tokens = index === 0 ? promptTokens(answer.usage) : 0;
    const statistics = JSON.stringify({ token_count: tokens, truncated: false });
    yield `${index === 0 ? "" : ","}{"embeddings":{${valuesOf(vector)},"statistics":${statistics}}}`;
  }
  yield "]}";
}
