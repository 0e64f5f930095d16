// https://platform.openai.com/docs/api-reference/embeddings

import { embeddingsApi } from "../service-adapters/embeddings-api.ts";
import { OPENAI_CODES } from "./errors.ts";

/** The older model has one size. */
const hasSizes = (model: string): boolean => !model.includes("ada");

export const openaiEmbeddings = embeddingsApi({
  capabilities: (model) => ({
    maxInputs: 2048,
    maxTokens: 300_000,
    takes: hasSizes(model) ? ["dimensions"] : [],
    tokens: true,
  }),
  base64: true,
  extras: ["user"],
  codes: OPENAI_CODES,
});
