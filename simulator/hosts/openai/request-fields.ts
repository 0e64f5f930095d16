import type { Exchange } from "../../exchange.ts";
import type { HostError } from "../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { isJson } from "../../media/is-json.ts";
import { type FormPart, readForm } from "../../read-form.ts";
import { invalid } from "./text/errors.ts";

/** The fields of a request, and its files where it is a form. */
export interface Fields {
  values: JsonObject;
  /** By the name of the form's field; undefined where the request was no form. */
  files?: ReadonlyMap<string, readonly FormPart[]>;
}

const NUMBERS = ["n", "output_compression", "partial_images"];

const contentTypeOf = (exchange: Exchange): string => exchange.headers.get("content-type") ?? "";

/** The fields of a JSON body, which no other form may have. */
export function jsonFields(exchange: Exchange): JsonObject {
  if (!isJson(exchange.headers)) {
    throw invalid(
      `Unsupported content type: '${contentTypeOf(exchange)}'. This endpoint takes 'application/json'.`,
      null,
      "unsupported_content_type",
    );
  }
  if (!isObject(exchange.body)) throw invalid("We could not parse the JSON body of your request.", null, null);
  return exchange.body;
}

/** Every value in a form is text; one that is not a number or boolean stays text and is rejected as such. */
function plainValue(name: string, text: string): Json {
  if (NUMBERS.includes(name) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return name === "stream" && (text === "true" || text === "false") ? text === "true" : text;
}

/** The fields of a JSON body or of a form. */
export function anyFields(exchange: Exchange): Fields {
  if (!contentTypeOf(exchange).startsWith("multipart/form-data")) return { values: jsonFields(exchange) };
  const parts = readForm(exchange.bodyBytes, contentTypeOf(exchange));
  if (parts === undefined) throw invalid("We could not parse the multipart form of your request.", null, null);
  const values: JsonObject = {};
  const files = new Map<string, FormPart[]>();
  for (const part of parts) {
    const { name } = part;
    if (part.fileName !== undefined) {
      files.set(name, [...(files.get(name) ?? []), part]);
    } else {
      if (Object.hasOwn(values, name)) throw duplicate(name);
      values[name] = plainValue(name, part.bytes.toString());
    }
  }
  return { values, files };
}

export function duplicate(name: string): HostError {
  return invalid(
    `Duplicate parameter: '${name}'. It takes one value; a list is written as '${name}[]'.`,
    name,
    "duplicate_parameter",
  );
}

export function refuseUnknown(names: Iterable<string>, known: readonly string[]): void {
  for (const name of names) {
    if (!known.includes(name)) throw invalid(`Unknown parameter: '${name}'.`, name, "unknown_parameter");
  }
}
