import type { EmbeddingAdapter } from "../../services/embeddings/embedding-adapter.ts";
import type { RerankAdapter } from "../../services/rerank/rerank-adapter.ts";
import type { ServiceDeclaration } from "../../services/service-adapters.ts";
import { embeddingsApi } from "./embeddings-api.ts";
import { rerankApi } from "./rerank-api.ts";

/** A host that is only known to have `/embeddings`. All of them return decimal numbers. */
const embeddings: EmbeddingAdapter = embeddingsApi({
  capabilities: () => ({ maxInputs: 256, maxTokens: 100_000, takes: ["dimensions"], tokens: true }),
  extras: "all",
  codes: [],
});

/** The same for `/rerank`, in the form of the vendor that introduced it. */
const rerank: RerankAdapter = rerankApi({ maxDocuments: 1000, billedBy: "tokens", extras: "all", codes: [] });

export const COMPATIBLE_EMBEDDINGS: ServiceDeclaration = { embeddings: [embeddings] };
export const COMPATIBLE_SERVICES: ServiceDeclaration = { embeddings: [embeddings], rerank: [rerank] };

/** Its batches are limited by tokens, and only the model for code has sizes. */
export const MISTRAL_SERVICES: ServiceDeclaration = {
  embeddings: [
    embeddingsApi({
      capabilities: (model) => ({
        maxInputs: 128,
        maxTokens: 12_000,
        takes: model.startsWith("codestral") ? ["dimensions"] : [],
      }),
      names: { dimensions: "output_dimension" },
      extras: ["output_dtype"],
      codes: [],
    }),
  ],
};
