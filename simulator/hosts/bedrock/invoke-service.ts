import type { Exchange } from "../../exchange.ts";
import { names } from "../../names.ts";
import { embedText } from "../../services/embed-text.ts";
import { playFailure } from "../../services/play-failure.ts";
import { readCount, readFields, readTexts } from "../../services/read-body.ts";
import { rankDocuments } from "../../services/score-document.ts";
import { countTokens } from "../../text/tokens.ts";
import { cohereVectors } from "../cohere/services.ts";
import { bedrockFailure, invalid } from "./text/errors.ts";

const TITAN_SIZES = [256, 512, 1024];

/** InvokeModel of models that embed texts or rank documents, by their id; undefined for any other. */
export function invokeService(exchange: Exchange, id: string): Response | undefined {
  if (id.includes("amazon.titan-embed-text")) return titan(exchange, id);
  if (id.includes("cohere.embed")) return cohere(exchange, id);
  return /(?:cohere|amazon)\.rerank/.test(id) ? rerank(exchange, id) : undefined;
}

const refuse = (message: string) => invalid(`Malformed input request: ${message}`);

function titan(exchange: Exchange, id: string): Response {
  const isSecond = id.includes("-v2");
  const known = isSecond ? "inputText dimensions normalize embeddingTypes" : "inputText";
  const body = readFields(exchange.body, names(known), refuse);
  const { inputText: text } = body;
  if (typeof text !== "string" || text === "") throw refuse("#/inputText: expected minLength: 1");
  playFailure([text], bedrockFailure);
  const size = readCount(body.dimensions, "dimensions", refuse) ?? (isSecond ? 1024 : 1536);
  if (isSecond && !TITAN_SIZES.includes(size)) throw refuse(`#/dimensions: ${size} is not a valid enum value`);
  return Response.json({ embedding: embedText(text, size), inputTextTokenCount: countTokens(text) });
}

function cohere(exchange: Exchange, id: string): Response {
  const known = names("texts input_type truncate embedding_types output_dimension");
  const body = readFields(exchange.body, known, refuse);
  const { meta, ...answer } = cohereVectors(body, id.includes("embed-v4"), refuse);
  const headers = { "x-amzn-bedrock-input-token-count": String(meta.billed_units.input_tokens) };
  return Response.json({ id: "sim", ...answer }, { headers });
}

function rerank(exchange: Exchange, id: string): Response {
  const known = id.includes("cohere.") ? "query documents top_n api_version" : "query documents top_n";
  const body = readFields(exchange.body, names(known), refuse);
  const { query, api_version } = body;
  if (typeof query !== "string" || query === "") throw refuse("#: required key [query] not found");
  if (id.includes("cohere.") && api_version !== 2) throw refuse("#: required key [api_version] not found");
  const documents = readTexts(body.documents, 1000, "documents", refuse);
  playFailure([query], bedrockFailure);
  const top = readCount(body.top_n, "top_n", refuse) ?? documents.length;
  return Response.json({ results: rankDocuments(query, documents).slice(0, top) });
}
