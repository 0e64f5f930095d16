import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { names } from "../../names.ts";
import { playFailure } from "../../services/play-failure.ts";
import { readCount, readFields, readTexts } from "../../services/read-body.ts";
import { rankDocuments } from "../../services/score-document.ts";
import { countTokens } from "../../text/tokens.ts";
import { authenticate } from "../openai/authenticate.ts";
import { type EmbeddingsHost, embedInputs } from "../openai/embeddings.ts";
import { invalid, openaiFailure } from "../openai/text/errors.ts";
import { speakingAs } from "./text/adapter.ts";
import { SIMULATED_HOSTS } from "./text/hosts.ts";

const ANY: EmbeddingsHost = {
  sizeOf: () => 1024,
  hasSizes: () => true,
  maxInputs: 256,
  maxTokens: 200_000,
  fields: names("model input dimensions encoding_format user truncate_prompt_tokens"),
  tokens: true,
  base64: true,
};

/** Hosts that have `/embeddings`, and where they differ. */
const EMBEDDINGS: Readonly<Record<string, EmbeddingsHost>> = {
  "azure-openai": {
    ...ANY,
    maxInputs: 2048,
    maxTokens: 300_000,
    fields: names("model input dimensions encoding_format user"),
  },
  mistral: {
    ...ANY,
    hasSizes: (model) => model.startsWith("codestral"),
    sizeField: "output_dimension",
    maxTokens: 16_384,
    fields: names("model input output_dimension output_dtype encoding_format"),
  },
  together: ANY,
  fireworks: ANY,
  openrouter: ANY,
  "z-ai": ANY,
  volcengine: ANY,
  ollama: ANY,
  vllm: ANY,
  "llama.cpp": ANY,
};

/** Hosts that have `/rerank`. */
const RERANKING = ["together", "fireworks", "vllm", "llama.cpp"];

/** The embeddings and rankings of a compatible host; undefined for a kind that has neither. */
export function compatibleServices(kind: string): MediaHost | undefined {
  const embeddings = EMBEDDINGS[kind];
  const host = SIMULATED_HOSTS.find((one) => one.kind === kind);
  if (embeddings === undefined || host === undefined) return undefined;
  return async (exchange, context) => {
    const [, verb] = /\/(embeddings|rerank)$/.exec(exchange.url.pathname) ?? [];
    if (verb === undefined || exchange.method !== "POST") return undefined;
    if (verb === "rerank" && !RERANKING.includes(kind)) return undefined;
    return speakingAs(host, () => {
      const isAnonymous = host.keyless && bearerOf(exchange.headers) === undefined;
      if (!isAnonymous) authenticate(exchange, context, host.keyHeader);
      return verb === "embeddings" ? embedInputs(exchange, embeddings) : rerankWithTokens(exchange, RERANK);
    });
  };
}

/** What differs between hosts that rank documents and count tokens. */
export interface RerankHost {
  fields: ReadonlySet<string>;
  maxDocuments: number;
  topField: string;
  /** Where the results are in the answer. */
  resultsField: "results" | "data";
}

const RERANK: RerankHost = {
  fields: names("model query documents top_n return_documents"),
  maxDocuments: 1000,
  topField: "top_n",
  resultsField: "results",
};

const refuse = (message: string, field: string) => invalid(message, field === "" ? null : field, null);

/** Answers `/rerank` as a host that counts tokens does: those of the query once for each document. */
export function rerankWithTokens(exchange: Exchange, host: RerankHost): Response {
  const body = readFields(exchange.body, host.fields, refuse);
  const { model, query } = body;
  if (typeof model !== "string") throw refuse("model is missing.", "model");
  if (typeof query !== "string" || query === "") throw refuse("query must be a text that is not empty.", "query");
  exchange.countModel(model);
  const documents = readTexts(body.documents, host.maxDocuments, "documents", refuse);
  playFailure([query], (name) => openaiFailure(name, model));
  const top = readCount(body[host.topField], host.topField, refuse) ?? documents.length;
  const tokens = documents.reduce((sum, text) => sum + countTokens(text) + countTokens(query), 0);
  const results = rankDocuments(query, documents).slice(0, top);
  return Response.json({ model, [host.resultsField]: results, usage: { total_tokens: tokens } });
}
