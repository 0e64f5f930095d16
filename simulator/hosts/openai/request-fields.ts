import { type Form, type FormEntry, readMultipart } from "../../../src/wire/multipart.ts";
import { MultipartError } from "../../../src/wire/multipart-error.ts";
import type { Exchange } from "../../exchange.ts";
import type { HostError } from "../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { isJson } from "../../media/is-json.ts";
import { invalid } from "./text/errors.ts";

/** A part of a form that holds a file. */
export type FormFile = Extract<FormEntry, { bytes: Uint8Array }>;

/** The fields of a request, and its files where it is a form. */
export interface Fields {
  values: JsonObject;
  /** By the name of the form's field; undefined where the request was no form. */
  files?: ReadonlyMap<string, readonly FormFile[]>;
}

const FORM_LIMITS = { maxBytes: 128 * 1024 * 1024, maxParts: 100, maxFieldBytes: 1024 * 1024 };
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

/** Everything in a form is a text; what is no number or boolean there stays one, and is refused as such. */
function plainValue(name: string, text: string): Json {
  if (NUMBERS.includes(name) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return name === "stream" && (text === "true" || text === "false") ? text === "true" : text;
}

async function readForm(exchange: Exchange): Promise<Form> {
  try {
    return await readMultipart([exchange.bodyBytes], contentTypeOf(exchange), FORM_LIMITS);
  } catch (error) {
    if (!(error instanceof MultipartError)) throw error;
    throw invalid("We could not parse the multipart form of your request.", null, null);
  }
}

/** The fields of a JSON body or of a form. */
export async function anyFields(exchange: Exchange): Promise<Fields> {
  if (!contentTypeOf(exchange).startsWith("multipart/form-data")) return { values: jsonFields(exchange) };
  const values: JsonObject = {};
  const files = new Map<string, FormFile[]>();
  for (const part of await readForm(exchange)) {
    const { name } = part;
    if ("bytes" in part) {
      files.set(name, [...(files.get(name) ?? []), part]);
    } else {
      if (Object.hasOwn(values, name)) throw duplicate(name);
      values[name] = plainValue(name, part.value);
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
