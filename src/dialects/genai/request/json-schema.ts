import { isObject, type JsonObject } from "../../../base/json.ts";
import { parseInOrder } from "../../../wire/ordered-json.ts";

/** Counts are 64-bit on this wire, so they may be written as strings. */
const COUNTS: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);

/**
 * Converts the dialect's schema language, a subset of OpenAPI's, to JSON Schema: types in lower case, `nullable` as an additional
 * type, `propertyOrdering` as the order of the properties. Unknown keywords are kept.
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const result: Record<string, unknown> = {};
  const type = typeOf(schema);
  const nullable = schema["nullable"] === true && type !== "null";
  for (const [key, value] of Object.entries(schema)) {
    switch (key) {
      case "nullable":
      case "propertyOrdering":
        break;
      case "type":
        if (type !== undefined) result[key] = nullable ? [type, "null"] : type;
        break;
      case "enum":
        result[key] = Array.isArray(value)
          ? [...value.map((one) => wordOf(one, type)), ...(nullable ? [null] : [])]
          : value;
        break;
      case "items":
      case "additionalProperties":
      case "not":
        result[key] = convert(value);
        break;
      case "anyOf":
      case "oneOf":
      case "allOf":
      case "prefixItems":
        result[key] = Array.isArray(value) ? value.map(convert) : value;
        break;
      case "properties":
        result[key] = convertMap(inOrder(value, schema["propertyOrdering"]));
        break;
      case "defs":
      case "$defs":
        result["$defs"] = convertMap(value);
        break;
      case "ref":
      case "$ref":
        result["$ref"] = typeof value === "string" ? value.replace(/^#\/defs\//, "#/$defs/") : value;
        break;
      case "example":
        result["examples"] = [value];
        break;
      default:
        result[key] = COUNTS.has(key) && typeof value === "string" ? Number(value) : value;
    }
  }
  const choices = result["anyOf"];
  if (nullable && type === undefined && Array.isArray(choices)) result["anyOf"] = [...choices, { type: "null" }];
  return result;
}

function typeOf(schema: JsonObject): string | undefined {
  const { type } = schema;
  return typeof type !== "string" || type === "TYPE_UNSPECIFIED" ? undefined : type.toLowerCase();
}

/** Enum values are strings here even if they stand for numbers. */
function wordOf(value: unknown, type: string | undefined): unknown {
  const numeric = type === "integer" || type === "number";
  if (!numeric || typeof value !== "string" || value.trim() === "" || !Number.isFinite(Number(value))) return value;
  return WHOLE.test(value) ? parseInOrder(value) : Number(value);
}

/** Such a value is a JSON number, and may have more digits than a double. */
const WHOLE = /^-?[1-9]\d*$/;

const convert = (value: unknown): unknown => (isObject(value) ? toJsonSchema(value) : value);

const convertMap = (map: unknown): unknown =>
  isObject(map) ? Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value)])) : map;

/** Properties that the ordering does not name come last. */
function inOrder(properties: unknown, ordering: unknown): unknown {
  if (!isObject(properties) || !Array.isArray(ordering)) return properties;
  const named = ordering.filter((key): key is string => typeof key === "string" && Object.hasOwn(properties, key));
  const names = new Set([...named, ...Object.keys(properties)]);
  return Object.fromEntries([...names].map((key) => [key, properties[key]]));
}
