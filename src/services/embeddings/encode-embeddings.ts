import { promptTokens } from "../../canon/usage.ts";
import type { EmbeddingAnswer, EmbeddingRequest } from "./embedding-protocol.ts";
import { base64Of, numbersOf } from "./vector-form.ts";

/** Writes the response of `embeddings`. */
export function* encodeEmbeddings({ vectors, usage, model }: EmbeddingAnswer, { encoding }: EmbeddingRequest) {
  yield '{"object":"list","data":[';
  for (const [index, vector] of vectors.entries()) {
    const embedding = JSON.stringify(encoding === "base64" ? base64Of(vector) : numbersOf(vector));
    yield `${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":${embedding}}`;
  }
  const tokens = promptTokens(usage);
  const rest = { model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
  yield `],${JSON.stringify(rest).slice(1)}`;
}
