import { isObject, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { refuse } from "../../dialects/reading/check.ts";
import type { EmbeddingField, EmbeddingInput, EmbeddingSettings } from "./embedding-call.ts";
import type { EmbeddingRequest } from "./embedding-protocol.ts";
import { readEmbeddingTask } from "./read-embedding-task.ts";
import {
  checkBatchEmbedContents,
  checkEmbedContent,
  checkPredictEmbeddings,
  type EmbedContentRequest,
  type PredictEmbeddingsRequest,
} from "./schema.ts";

type Paths = Readonly<Record<EmbeddingField, string>>;

/** Reads the body of `:embedContent`. */
export function decodeEmbedContent(body: JsonObject): EmbeddingRequest {
  const request = checkEmbedContent(normalRequest(body));
  const root = request.embedContentConfig === undefined ? "" : "embedContentConfig.";
  return requestOf([inputOf(request, "")], body, EMBED_CONTENT, {
    input: "content",
    dimensions: `${root}outputDimensionality`,
    task: `${root}taskType`,
    title: `${root}title`,
    truncate: `${root}autoTruncate`,
  });
}

/** Reads the body of `:batchEmbedContents`. Each request in it has its own settings. */
export function decodeBatchEmbedContents(body: JsonObject): EmbeddingRequest {
  const { requests } = checkBatchEmbedContents(normalBatch(body));
  const inputs = requests.map((request, index) => inputOf(request, `requests[${index}].`));
  return requestOf(withSharedSettings(inputs), body, ["requests"], {
    input: "requests[].content",
    dimensions: "requests[].outputDimensionality",
    task: "requests[].taskType",
    title: "requests[].title",
    truncate: "requests[].autoTruncate",
  });
}

/** Reads the body of `:predict` for an embedding model. */
export function decodePredictEmbeddings(body: JsonObject): EmbeddingRequest {
  const { instances, parameters = {} } = checkPredictEmbeddings(normalPrediction(body));
  const inputs = instances.map((instance, index) => inputOfInstance(instance, parameters, `instances[${index}].`));
  return requestOf(withSharedSettings(inputs), body, ["instances", "parameters", "labels"], {
    input: "instances[].content",
    dimensions: "parameters.outputDimensionality",
    task: "instances[].task_type",
    title: "instances[].title",
    truncate: "parameters.autoTruncate",
  });
}

const SETTINGS = ["taskType", "title", "outputDimensionality", "autoTruncate"];
const EMBED_CONTENT = ["model", "content", "embedContentConfig", ...SETTINGS];

function requestOf(
  inputs: EmbeddingInput[],
  body: JsonObject,
  known: readonly string[],
  paths: Paths,
): EmbeddingRequest {
  const unknown = Object.keys(body).filter((name) => !known.includes(camel(name)));
  const notes = unknown.map(
    (path): FieldNote => ({ path, action: "dropped", reason: "embeddings do not support this field" }),
  );
  return { call: { inputs, extras: {} }, encoding: "float", notes, paths };
}

function inputOf(request: EmbedContentRequest, root: string): EmbeddingInput {
  const { taskType, title, outputDimensionality, autoTruncate } = { ...request, ...request.embedContentConfig };
  return inputWith(
    textOf(request.content, `${root}content`),
    title,
    withoutAbsent({
      dimensions: outputDimensionality,
      task: readEmbeddingTask(taskType, `${root}taskType`),
      truncate: autoTruncate,
    }),
  );
}

function inputOfInstance(
  { content, taskType, title }: PredictEmbeddingsRequest["instances"][number],
  { outputDimensionality, autoTruncate }: NonNullable<PredictEmbeddingsRequest["parameters"]>,
  root: string,
): EmbeddingInput {
  return inputWith(
    content,
    title,
    withoutAbsent({
      dimensions: outputDimensionality,
      task: readEmbeddingTask(taskType, `${root}task_type`),
      truncate: autoTruncate,
    }),
  );
}

const inputWith = (content: string, title: string | undefined, settings: EmbeddingSettings): EmbeddingInput =>
  withoutAbsent({ content, title, settings });

/** Several texts of one content become one vector. */
function textOf({ parts }: EmbedContentRequest["content"], path: string): string {
  const texts = parts.map((part, index) => {
    if (part.text !== undefined) return part.text;
    return refuse(`${path}.parts[${index}]`, "has no text; only text can be embedded");
  });
  const text = texts.join("\n");
  return text === "" ? refuse(`${path}.parts[0].text`, "must not be empty") : text;
}

/** Equal settings become one object, which identifies inputs that can share a request. */
function withSharedSettings(inputs: readonly EmbeddingInput[]): EmbeddingInput[] {
  const shared = new Map<string, EmbeddingSettings>();
  return inputs.map((input) => {
    const key = JSON.stringify(input.settings);
    const settings = shared.get(key) ?? input.settings;
    shared.set(key, settings);
    return { ...input, settings };
  });
}

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Clients write the protocol's names in camelCase or snake_case (sdks 5), and null for absent values. */
function normal(value: unknown, names: readonly string[]): JsonObject {
  if (!isObject(value)) return {};
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([key, item]) => [names.includes(camel(key)) ? camel(key) : key, item]));
}

function normalRequest(body: JsonObject): JsonObject {
  const request = normal(body, EMBED_CONTENT);
  const config = objectAt(request, "embedContentConfig");
  return config === undefined ? request : { ...request, embedContentConfig: normal(config, SETTINGS) };
}

function normalBatch(body: JsonObject): JsonObject {
  const { requests } = body;
  if (!Array.isArray(requests)) return body;
  return { ...body, requests: requests.map((item) => (isObject(item) ? normalRequest(item) : (item as unknown))) };
}

function normalPrediction(body: JsonObject): JsonObject {
  const { instances, parameters } = body;
  return {
    ...body,
    ...(Array.isArray(instances)
      ? { instances: instances.map((item) => (isObject(item) ? normal(item, SETTINGS) : (item as unknown))) }
      : {}),
    ...(isObject(parameters) ? { parameters: normal(parameters, SETTINGS) } : {}),
  };
}
