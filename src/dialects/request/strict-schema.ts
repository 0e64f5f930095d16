import { isObject, type JsonObject } from "../../base/json.ts";

/**
 * Whether a host that enforces this schema strictly would accept it: every object closed, and all its properties required. Other
 * protocols have `strict` too, but allow optional properties.
 */
export function isStrict(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  if (isObjectSchema(schema)) {
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const required = new Set<unknown>(Array.isArray(schema["required"]) ? schema["required"] : []);
    const complete = Object.keys(properties).every((name) => required.has(name));
    if (schema["additionalProperties"] !== false || !complete) return false;
  }
  return nested(schema).every(isStrict);
}

const isObjectSchema = ({ type, properties }: JsonObject): boolean =>
  type === "object" || (Array.isArray(type) && type.includes("object")) || isObject(properties);

function nested(schema: JsonObject): unknown[] {
  const byName = ["properties", "$defs", "definitions"].flatMap((key) => {
    const members = schema[key];
    return isObject(members) ? Object.values(members) : [];
  });
  const lists = ["anyOf", "oneOf", "allOf", "prefixItems"].flatMap((key) => {
    const list = schema[key];
    return Array.isArray(list) ? (list as unknown[]) : [];
  });
  return [...byName, ...lists, schema["items"]];
}

/** Hosts reject an arguments schema that does not declare an object and its properties. */
export const objectSchema = (schema: JsonObject): JsonObject => ({
  ...("type" in schema ? {} : { type: "object" }),
  ...schema,
  ...(isObject(schema["properties"]) || "$ref" in schema || "anyOf" in schema ? {} : { properties: {} }),
});
