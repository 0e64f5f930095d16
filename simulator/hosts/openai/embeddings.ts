import type { Exchange } from "../../exchange.ts";
import type { HostError } from "../../host-error.ts";
import { isObject, type Json } from "../../json.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { names } from "../../names.ts";
import { embedText } from "../../services/embed-text.ts";
import { playFailure } from "../../services/play-failure.ts";
import { readCount, readFields } from "../../services/read-body.ts";
import { countTokens } from "../../text/tokens.ts";
import { authenticate } from "./authenticate.ts";
import { invalid, modelNotFound, openaiFailure } from "./text/errors.ts";

/** What differs between hosts of `/embeddings`. */
export interface EmbeddingsHost {
  /** The size of a model's vectors; undefined where the host does not have it. */
  sizeOf: (model: string) => number | undefined;
  /** Whether another size can be asked for. */
  hasSizes: (model: string) => boolean;
  maxInputs: number;
  maxTokens: number;
  fields: ReadonlySet<string>;
  /** `dimensions` where absent. */
  sizeField?: string;
  /** Inputs may be tokens. */
  tokens?: true;
  base64?: true;
}

const SIZES: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
};

const OPENAI: EmbeddingsHost = {
  sizeOf: (model) => SIZES[model],
  hasSizes: (model) => model.startsWith("text-embedding-3"),
  maxInputs: 2048,
  maxTokens: 300_000,
  fields: names("model input dimensions encoding_format user"),
  tokens: true,
  base64: true,
};

/** OpenAI's embeddings. */
export const openaiEmbeddings: MediaHost = async (exchange, context) => {
  if (exchange.method !== "POST" || !exchange.url.pathname.endsWith("/v1/embeddings")) return undefined;
  authenticate(exchange, context);
  return embedInputs(exchange, OPENAI);
};

const refuse = (message: string, field: string): HostError => invalid(message, field === "" ? null : field, null);

/** Answers `/embeddings` as such a host does. */
export function embedInputs(exchange: Exchange, host: EmbeddingsHost): Response {
  const body = readFields(exchange.body, host.fields, refuse);
  const { model, encoding_format: format = "float" } = body;
  if (typeof model !== "string") throw invalid("you must provide a model parameter", null, null);
  const size = host.sizeOf(model);
  if (size === undefined) throw modelNotFound(model);
  exchange.countModel(model);
  const field = host.sizeField ?? "dimensions";
  const asked = readCount(body[field], field, refuse);
  if (asked !== undefined && !host.hasSizes(model))
    throw refuse("This model does not support specifying dimensions.", field);
  if (asked !== undefined && asked > size) throw refuse(`${field} must be at most ${size}.`, field);
  if (format !== "float" && !(format === "base64" && host.base64)) {
    throw refuse(`encoding_format ${JSON.stringify(format)} is not supported.`, "encoding_format");
  }
  const inputs = readInputs(body.input, host);
  playFailure(inputs, (name) => openaiFailure(name, model));
  const counts = inputs.map(countTokens);
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  if (tokens > host.maxTokens)
    throw refuse(`Requested ${tokens} tokens, max ${host.maxTokens} tokens per request`, "input");
  const data = inputs.map((text, index) => {
    const vector = embedText(text, asked ?? size);
    return { object: "embedding", index, embedding: format === "base64" ? base64(vector) : vector };
  });
  return Response.json({ object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

function readInputs(value: Json | undefined, host: EmbeddingsHost): string[] {
  const wrong = (): HostError => refuse("'$.input' is invalid. Please check the API reference.", "input");
  const list = Array.isArray(value) && typeof value[0] !== "number" ? value : [value ?? null];
  if (list.length === 0) throw wrong();
  if (list.length > host.maxInputs) {
    throw refuse(
      `'$.input' is invalid. The array has ${list.length} items; at most ${host.maxInputs} are allowed.`,
      "input",
    );
  }
  return list.map((item) => {
    if (typeof item === "string" && item !== "") return item;
    const isTokens = Array.isArray(item) && item.length > 0 && item.every((token) => Number.isInteger(token));
    if (!isTokens || !host.tokens || isObject(item)) throw wrong();
    return item.map((token) => `t${String(token)}`).join(" ");
  });
}

const base64 = (vector: readonly number[]): string => Buffer.from(Float32Array.from(vector).buffer).toString("base64");
