import type { Exchange } from "../../exchange.ts";
import { isObject, type JsonObject } from "../../json.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import { names } from "../../names.ts";
import { embedText } from "../../services/embed-text.ts";
import { playFailure } from "../../services/play-failure.ts";
import { readCount, readFields, readTexts } from "../../services/read-body.ts";
import { countTokens } from "../../text/tokens.ts";
import { type RerankHost, rerankWithTokens } from "../compatible/services.ts";
import { SHAPES } from "../compatible/text/errors.ts";
import { authenticate } from "../openai/authenticate.ts";
import { invalid, openaiFailure } from "../openai/text/errors.ts";

const RERANK: RerankHost = {
  fields: names("model query documents top_n instruct"),
  maxDocuments: 500,
  topField: "top_n",
  resultsField: "results",
};

/** DashScope's embeddings, at its native endpoint, and its rankings. */
export const qwenServices: MediaHost = async (exchange, context) => {
  const { pathname } = exchange.url;
  const isEmbedding = pathname.endsWith("/services/embeddings/text-embedding/text-embedding");
  if (exchange.method !== "POST" || !(isEmbedding || pathname.endsWith("/compatible-api/v1/reranks"))) return undefined;
  return withHostErrors(SHAPES.dashscope.body, async () => {
    authenticate(exchange, context);
    return isEmbedding ? Response.json(embed(exchange)) : rerankWithTokens(exchange, RERANK);
  });
};

const refuse = (message: string, field: string) => invalid(message, field === "" ? null : field, null);
const part = (body: JsonObject, name: string, known: string): JsonObject =>
  readFields(isObject(body[name]) ? body[name] : {}, names(known), refuse);

function embed(exchange: Exchange): JsonObject {
  const body = readFields(exchange.body, names("model input parameters"), refuse);
  const { model } = body;
  if (typeof model !== "string" || !model.startsWith("text-embedding-")) throw refuse("Model not exist.", "model");
  exchange.countModel(model);
  const texts = readTexts(part(body, "input", "texts").texts, 10, "input.texts", refuse);
  const parameters = part(body, "parameters", "dimension text_type output_type instruct");
  const { text_type = "document" } = parameters;
  if (text_type !== "document" && text_type !== "query")
    throw refuse("text_type must be query or document", "text_type");
  playFailure(texts, (name) => openaiFailure(name, model));
  const size = readCount(parameters.dimension, "dimension", refuse) ?? 1024;
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const embeddings = texts.map((text, text_index) => ({ text_index, embedding: embedText(text, size) }));
  return { output: { embeddings }, usage: { total_tokens: tokens }, request_id: "req_simulated" };
}
