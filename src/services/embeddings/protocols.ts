import { decodeBatchEmbedContents, decodeEmbedContent, decodePredictEmbeddings } from "./decode-embed-content.ts";
import { decodeEmbeddings } from "./decode-embeddings.ts";
import type { EmbeddingProtocol } from "./embedding-protocol.ts";
import { encodeBatchEmbedContents, encodeEmbedContent, encodePredictEmbeddings } from "./encode-embed-content.ts";
import { encodeEmbeddings } from "./encode-embeddings.ts";

/** `embeddings` */
export const EMBEDDINGS: EmbeddingProtocol = { decode: decodeEmbeddings, encode: encodeEmbeddings };

/** `:embedContent` */
export const EMBED_CONTENT: EmbeddingProtocol = { decode: decodeEmbedContent, encode: encodeEmbedContent };

/** `:batchEmbedContents` */
export const BATCH_EMBED_CONTENTS: EmbeddingProtocol = {
  decode: decodeBatchEmbedContents,
  encode: encodeBatchEmbedContents,
};

/** `:predict`, for models that make embeddings. */
export const PREDICT_EMBEDDINGS: EmbeddingProtocol = {
  decode: decodePredictEmbeddings,
  encode: encodePredictEmbeddings,
};
