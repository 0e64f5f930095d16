import { isObject, type JsonObject } from "../../base/json.ts";
import type { Notes } from "../../canon/notes.ts";

/** Keywords that hosts reject with 400 when they enforce a schema on a response or a tool (H08). */
const REFUSED: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "minProperties",
  "maxProperties",
  "patternProperties",
  "propertyNames",
]);

/** Keywords that map names to schemas, and those whose value is a schema or a list of schemas. */
const BY_NAME: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const NESTED: ReadonlySet<string> = new Set(["items", "prefixItems", "anyOf", "oneOf", "allOf", "not"]);

/**
 * A JSON Schema in the form that hosts of this dialect enforce: every object closed, without the keywords that they reject.
 * Models can still read a removed keyword in the description. `path`: where the schema is in the request.
 */
export function lowerEnforcedSchema(schema: JsonObject, path: string, notes: Notes): JsonObject {
  const changed = new Set<string>();
  const lowered = lower(schema, changed);
  if (changed.size > 0) {
    notes.approximated(path, `this provider does not enforce these schema keywords: ${[...changed].join(", ")}`);
  }
  return lowered;
}

function lower(schema: JsonObject, changed: Set<string>): JsonObject {
  const result: Record<string, unknown> = {};
  const reported: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (REFUSED.has(key) || (key === "minItems" && typeof value === "number" && value > 1)) {
      changed.add(key);
      reported.push(`${key}: ${JSON.stringify(value)}`);
    } else if (BY_NAME.has(key) && isObject(value)) {
      const members = Object.entries(value).map(([name, member]) => [name, lowerValue(member, changed)]);
      result[key] = Object.fromEntries(members);
    } else if (NESTED.has(key)) result[key] = lowerValue(value, changed);
    else result[key] = value;
  }
  if (schema["type"] === "object" || isObject(schema["properties"])) {
    const open = schema["additionalProperties"];
    if (open !== undefined && open !== false) changed.add("additionalProperties");
    result["additionalProperties"] = false;
  }
  if (reported.length > 0) {
    const description = schema["description"];
    result["description"] = [
      ...(typeof description === "string" ? [description] : []),
      `(${reported.join(", ")})`,
    ].join(" ");
  }
  return result;
}

function lowerValue(value: unknown, changed: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => lowerValue(one, changed));
  return isObject(value) ? lower(value, changed) : value;
}
