import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import { type FailureName, HostError } from "../../host-error.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { names } from "../../names.ts";
import { embedText } from "../../services/embed-text.ts";
import { playFailure } from "../../services/play-failure.ts";
import { readCount, readFields, readTexts } from "../../services/read-body.ts";
import { rankDocuments } from "../../services/score-document.ts";
import { countTokens } from "../../text/tokens.ts";

const cohereError = (status: number, message: string): HostError =>
  new HostError(status, JSON.stringify({ id: "sim", message }));
const refuse = (message: string): HostError => cohereError(400, `invalid request: ${message}`);
const fail = (name: FailureName): HostError => cohereError(Number.parseInt(name, 10), `Simulated: status ${name}.`);

/** Cohere's own embeddings and rankings. */
export const cohereServices: MediaHost = async (exchange, context) => {
  const [, verb] = /\/v2\/(embed|rerank)$/.exec(exchange.url.pathname) ?? [];
  if (verb === undefined || exchange.method !== "POST") return undefined;
  const key = bearerOf(exchange.headers) ?? "";
  if (!context.acceptsKey(key)) throw cohereError(401, "invalid api token");
  return Response.json(verb === "embed" ? embed(exchange) : rerank(exchange));
};

const EMBED_FIELDS = names("model texts input_type embedding_types output_dimension truncate max_tokens");
const INPUT_TYPES: readonly Json[] = ["search_document", "search_query", "classification", "clustering"];

function embed(exchange: Exchange): JsonObject {
  const body = readFields(exchange.body, EMBED_FIELDS, refuse);
  const { model } = body;
  if (typeof model !== "string" || !model.startsWith("embed-"))
    throw cohereError(404, `model '${String(model)}' not found`);
  exchange.countModel(model);
  return { id: "sim", ...cohereVectors(body, model.startsWith("embed-v4"), refuse) };
}

/** The body of an answer with embeddings, as the vendor's models give it wherever they are hosted. */
export function cohereVectors(
  body: JsonObject,
  hasSizes: boolean,
  wrong: (message: string, field: string) => HostError,
): JsonObject & { meta: { billed_units: { input_tokens: number } } } {
  const texts = readTexts(body.texts, 96, "texts", wrong);
  playFailure(texts, fail);
  if (!INPUT_TYPES.includes(body.input_type ?? null)) {
    throw wrong(`valid input_type must be provided with the provided model`, "input_type");
  }
  const size = readCount(body.output_dimension, "output_dimension", wrong);
  if (size !== undefined && !hasSizes)
    throw wrong("output_dimension is not supported by this model", "output_dimension");
  const vectors = texts.map((text) => embedText(text, size ?? (hasSizes ? 1536 : 1024)));
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return {
    embeddings: { float: vectors },
    texts,
    response_type: "embeddings_by_type",
    meta: { billed_units: { input_tokens: tokens } },
  };
}

const RERANK_FIELDS = names("model query documents top_n max_tokens_per_doc priority");

function rerank(exchange: Exchange): JsonObject {
  const body = readFields(exchange.body, RERANK_FIELDS, refuse);
  const { model, query } = body;
  if (typeof model !== "string" || !model.startsWith("rerank-"))
    throw cohereError(404, `model '${String(model)}' not found`);
  exchange.countModel(model);
  if (typeof query !== "string" || query === "") throw refuse("query must not be empty");
  const documents = readTexts(body.documents, 1000, "documents", refuse);
  playFailure([query], fail);
  const top = readCount(body.top_n, "top_n", refuse) ?? documents.length;
  const units = Math.ceil(documents.length / 100);
  return {
    id: "sim",
    results: rankDocuments(query, documents).slice(0, top),
    meta: { api_version: { version: "2" }, billed_units: { search_units: units } },
  };
}
