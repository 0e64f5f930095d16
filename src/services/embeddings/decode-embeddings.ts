import { isObject, type JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { noteOtherModels, ROUTING_FIELDS } from "../../dialects/reading/routing-fields.ts";
import type { EmbeddingField, EmbeddingInput, EmbeddingSettings } from "./embedding-call.ts";
import type { EmbeddingRequest } from "./embedding-protocol.ts";
import { readEmbeddingTask } from "./read-embedding-task.ts";
import { checkEmbeddings, type EmbeddingsRequest, MAX_INPUTS } from "./schema.ts";

const PATHS: Readonly<Record<EmbeddingField, string>> = {
  input: "input",
  dimensions: "dimensions",
  task: "input_type",
  title: "title",
  truncate: "truncate",
};

/** Reads the body of `embeddings`. */
export function decodeEmbeddings(body: JsonObject): EmbeddingRequest {
  refuseInputs(body["input"]);
  refuseOtherNumbers(body);
  const request: EmbeddingsRequest = checkEmbeddings(body);
  const notes: FieldNote[] = [];
  noteOtherModels(body, notes);
  const fields = new Fields(request);
  fields.skip("model", "input", "encoding_format", ...ROUTING_FIELDS);
  const dimensions = fields.number("dimensions");
  const task = readEmbeddingTask(fields.string("input_type"), "input_type");
  const settings: EmbeddingSettings = withoutAbsent({ dimensions, task });
  return {
    call: {
      inputs: contentsOf(request.input).map((content): EmbeddingInput => ({ content, settings })),
      extras: fields.rest() ?? {},
    },
    encoding: request.encoding_format ?? "float",
    notes,
    paths: PATHS,
  };
}

/** Host-specific options for vectors of small integers or bits. A vector of other numbers than requested fits no index. */
function refuseOtherNumbers(body: JsonObject): void {
  const reason = "is not supported; vectors are 32-bit floats, as numbers or base64 (encoding_format)";
  const { output_dtype: type, embedding_types: types } = body;
  if (type !== undefined && type !== null && type !== "float") refuse("output_dtype", reason);
  if (!Array.isArray(types)) return;
  for (const [index, one] of types.entries()) if (one !== "float") refuse(`embedding_types[${index}]`, reason);
}

/** Errors that a schema of several forms would only report as a wrong type. */
function refuseInputs(input: unknown): void {
  if (input === "") refuse("input", "must not be an empty string");
  if (!Array.isArray(input)) return;
  if (input.length === 0) refuse("input", "must not be an empty array");
  const [first] = input as readonly unknown[];
  const kind = Array.isArray(first) ? "array of tokens" : typeof first;
  if (kind !== "number" && input.length > MAX_INPUTS) {
    refuse("input", `has ${input.length} items; at most ${MAX_INPUTS} can be sent per request`);
  }
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    if (item === "" || (Array.isArray(item) && item.length === 0)) refuse(path, "must not be empty");
    if (isObject(item)) refuse(path, "is an object; only text and tokens can be embedded");
    const found = Array.isArray(item) ? "array of tokens" : typeof item;
    if (found !== kind)
      refuse(path, `is ${article(found)}, but input[0] is ${article(kind)}; all items must have the same type`);
  }
}

const article = (kind: string): string => (kind.startsWith("a") ? `an ${kind}` : `a ${kind}`);

function contentsOf(input: EmbeddingsRequest["input"]): readonly (string | readonly number[])[] {
  if (typeof input === "string") return [input];
  return isTokens(input) ? [input] : input;
}

const isTokens = (input: Exclude<EmbeddingsRequest["input"], string>): input is number[] =>
  typeof input[0] === "number";
