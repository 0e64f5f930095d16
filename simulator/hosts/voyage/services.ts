import type { MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import { names } from "../../names.ts";
import { type RerankHost, rerankWithTokens } from "../compatible/services.ts";
import { authenticate } from "../openai/authenticate.ts";
import { type EmbeddingsHost, embedInputs } from "../openai/embeddings.ts";

const EMBEDDINGS: EmbeddingsHost = {
  sizeOf: (model) => (model.startsWith("voyage-") ? 2048 : undefined),
  hasSizes: (model) => !model.endsWith("-2"),
  maxInputs: 1000,
  maxTokens: 120_000,
  fields: names("model input input_type truncation output_dimension output_dtype encoding_format"),
  sizeField: "output_dimension",
  base64: true,
};

const RERANK: RerankHost = {
  fields: names("model query documents top_k return_documents truncation"),
  maxDocuments: 1000,
  topField: "top_k",
  resultsField: "data",
};

/** Voyage's embeddings and rankings. */
export const voyageServices: MediaHost = async (exchange, context) => {
  const [, verb] = /\/(embeddings|rerank)$/.exec(exchange.url.pathname) ?? [];
  if (verb === undefined || exchange.method !== "POST") return undefined;
  return withHostErrors(
    ({ message }) => ({ detail: message }),
    async () => {
      authenticate(exchange, context);
      return verb === "embeddings" ? embedInputs(exchange, EMBEDDINGS) : rerankWithTokens(exchange, RERANK);
    },
  );
};
