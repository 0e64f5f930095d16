import { isObject, type Json } from "../../../json.ts";
import { names } from "../../../names.ts";
import { type GoogleHost, invalidValue, unknownName } from "./errors.ts";
import { refuseUnknown } from "./proto-json.ts";

const KNOWN = {
  gemini: names(
    `type format title description nullable enum items properties required propertyOrdering minimum maximum minItems maxItems
    minLength maxLength minProperties maxProperties pattern example anyOf default`,
  ),
  vertex: names(
    `type format title description nullable enum items properties required propertyOrdering minimum maximum minItems maxItems
    minLength maxLength minProperties maxProperties pattern example anyOf default additionalProperties ref defs`,
  ),
} as const;

const TYPES = ["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/** Google's own Schema is a part of OpenAPI's: `const`, `$ref`, `oneOf` and lists of types are not in it. */
export function checkSchema(value: Json, path: string, host: GoogleHost): void {
  if (!isObject(value))
    throw invalidValue(path, "type.googleapis.com/google.ai.generativelanguage.v1beta.Schema", value);
  refuseUnknown(value, KNOWN[host], path);
  const { type } = value;
  if (Array.isArray(type)) throw unknownName("type", `${path} (Proto field is not repeating, cannot start list)`);
  if (type !== undefined && !(typeof type === "string" && TYPES.includes(type.toUpperCase()))) {
    throw invalidValue(`${path}.type`, "type.googleapis.com/google.ai.generativelanguage.v1beta.Type", type);
  }
  for (const [at, one] of (Array.isArray(value.enum) ? value.enum : []).entries()) {
    if (typeof one !== "string") throw invalidValue(`${path}.enum[${at}]`, "TYPE_STRING", one);
  }
  if (value.items !== undefined) checkSchema(value.items, `${path}.items`, host);
  for (const [at, one] of (Array.isArray(value.anyOf) ? value.anyOf : []).entries()) {
    checkSchema(one, `${path}.anyOf[${at}]`, host);
  }
  const properties = isObject(value.properties) ? Object.values(value.properties) : [];
  for (const [at, one] of properties.entries()) checkSchema(one, `${path}.properties[${at}].value`, host);
}
