import { decodeName, type Exchange } from "../../exchange.ts";
import type { HostError } from "../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { names } from "../../names.ts";
import { embedText } from "../../services/embed-text.ts";
import { playFailure } from "../../services/play-failure.ts";
import { readCount, readFields } from "../../services/read-body.ts";
import { countTokens } from "../../text/tokens.ts";
import { callerOf } from "./caller.ts";
import { noSuchModel } from "./refusals.ts";
import { type GoogleHost, googleFailure, invalid } from "./text/errors.ts";

const PATHS = {
  gemini: /\/v1(?:beta|beta1)?\/models\/([^/]+):(embedContent|batchEmbedContents)$/,
  vertex: /\/publishers\/google\/models\/([^/]+):(embedContent|predict)$/,
} as const;

const TASKS = names(
  "RETRIEVAL_QUERY RETRIEVAL_DOCUMENT SEMANTIC_SIMILARITY CLASSIFICATION CLUSTERING QUESTION_ANSWERING FACT_VERIFICATION CODE_RETRIEVAL_QUERY",
);
const SIZE = 3072;

const isEmbedder = (model: string): boolean => /embedding/.test(model);
/** Models of the second generation have no tasks. */
const hasTasks = (model: string): boolean => !model.startsWith("gemini-embedding-2");

function googleEmbeddings(host: GoogleHost): MediaHost {
  return async (exchange, context) => {
    const path = decodeName(exchange.url.pathname);
    const [, model, verb = ""] = (exchange.method === "POST" ? PATHS[host].exec(path) : null) ?? [];
    if (model === undefined || (verb === "predict" && !isEmbedder(model))) return undefined;
    callerOf(exchange, context, host);
    if (!isEmbedder(model)) throw noSuchModel(host, model, verb, path);
    exchange.countModel(model);
    const play = (texts: readonly string[]) => playFailure(texts, (name) => googleFailure(name, model, host));
    if (verb === "predict") return Response.json(predict(exchange, model, play));
    if (verb === "embedContent") return Response.json(embedOne(exchange, host, model, play));
    return Response.json(embedBatch(exchange, model, play));
  };
}

/** The Gemini API's embeddings. It does not count tokens. */
export const geminiEmbeddings: MediaHost = googleEmbeddings("gemini");
/** Vertex AI's. */
export const vertexEmbeddings: MediaHost = googleEmbeddings("vertex");

type Play = (texts: readonly string[]) => void;

const refuse = (message: string): HostError => invalid(message);

function readTask(value: Json | undefined, model: string): void {
  if (value === undefined) return;
  if (!hasTasks(model)) throw refuse("taskType is not supported by this model.");
  if (typeof value !== "string" || !TASKS.has(value))
    throw refuse(`Invalid value at 'task_type': ${JSON.stringify(value)}`);
}

const REQUEST = names("model content taskType title outputDimensionality");

function vectorOf(request: Json, model: string, play: Play): number[] {
  const body = readFields(request, REQUEST, refuse);
  readTask(body.taskType, model);
  const size = readCount(body.outputDimensionality, "outputDimensionality", refuse) ?? SIZE;
  const text = textOf(body.content);
  play([text]);
  return embedText(text, size);
}

function textOf(content: Json | undefined): string {
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  const texts = parts.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : ""));
  const text = texts.join("\n");
  if (text === "") throw refuse("The content is empty.");
  return text;
}

function embedBatch(exchange: Exchange, model: string, play: Play): JsonObject {
  const { requests } = readFields(exchange.body, names("requests"), refuse);
  if (!Array.isArray(requests) || requests.length === 0) throw refuse("requests must not be empty.");
  if (requests.length > 100) throw refuse("at most 100 requests can be in one batch");
  for (const request of requests) {
    if (isObject(request) && request.model !== `models/${model}`) throw refuse("all requests must have the same model");
  }
  return { embeddings: requests.map((request) => ({ values: vectorOf(request, model, play) })) };
}

function embedOne(exchange: Exchange, host: GoogleHost, model: string, play: Play): JsonObject {
  if (host === "gemini") return { embedding: { values: vectorOf(exchange.body ?? null, model, play) } };
  const { content, embedContentConfig: config } = readFields(
    exchange.body,
    names("content embedContentConfig"),
    refuse,
  );
  const settings = readFields(config ?? {}, names("taskType title outputDimensionality autoTruncate"), refuse);
  readTask(settings.taskType, model);
  const text = textOf(content);
  play([text]);
  const size = readCount(settings.outputDimensionality, "outputDimensionality", refuse) ?? SIZE;
  return { embedding: { values: embedText(text, size) }, usageMetadata: { promptTokenCount: countTokens(text) } };
}

function predict(exchange: Exchange, model: string, play: Play): JsonObject {
  const { instances, parameters = {} } = readFields(exchange.body, names("instances parameters"), refuse);
  const settings = readFields(parameters, names("outputDimensionality autoTruncate"), refuse);
  const size = readCount(settings.outputDimensionality, "outputDimensionality", refuse) ?? SIZE;
  const most = model.startsWith("gemini-") ? 1 : 250;
  if (!Array.isArray(instances) || instances.length === 0 || instances.length > most) {
    throw refuse(`The number of instances must be from 1 to ${most}.`);
  }
  const predictions = instances.map((instance) => {
    const { content, task_type } = readFields(instance, names("content task_type title"), refuse);
    readTask(task_type, model);
    if (typeof content !== "string" || content === "") throw refuse("The text content is empty.");
    play([content]);
    const statistics = { token_count: countTokens(content), truncated: false };
    return { embeddings: { values: embedText(content, size), statistics } };
  });
  return { predictions };
}
