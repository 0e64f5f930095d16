import { isObject, type JsonObject } from "../../base/json.ts";
import type { OutputFormat } from "../../canon/call.ts";
import type { Notes } from "../../canon/notes.ts";
import type { AnswerReading } from "../codec.ts";

const MEMBER = "answer";

/**
 * A response schema for targets that require an object at its root. Anything else, including a plain value, becomes the only
 * member of an object, and `reading` says that it must be unwrapped.
 */
export function objectRoot(format: Extract<OutputFormat, { type: "schema" }>): {
  schema: JsonObject;
  reading: AnswerReading;
} {
  const { schema } = format;
  if (!format.word && isObjectSchema(schema)) return { schema, reading: {} };
  return {
    schema: { type: "object", properties: { [MEMBER]: schema }, required: [MEMBER], additionalProperties: false },
    reading: { unwrapMember: MEMBER, ...(format.word ? { unquoteMember: true } : {}) },
  };
}

/** The schema with the format's description, for targets that have no other field for it. */
export function describedSchema(
  schema: JsonObject,
  { description }: { description?: string },
  path: string,
  notes: Notes,
): JsonObject {
  if (description === undefined) return schema;
  if (!("description" in schema)) return { description, ...schema };
  if (schema["description"] !== description) {
    notes.dropped(
      `${path}.json_schema.description`,
      "the schema has its own description, and this protocol has only one field for both",
    );
  }
  return schema;
}

function isObjectSchema(schema: JsonObject): boolean {
  const { type } = schema;
  if (type === undefined)
    return isObject(schema["properties"]) || !("items" in schema || "enum" in schema || "const" in schema);
  return type === "object";
}

/** A name for the tool that replaces a schema, different from the client's tools. */
export function structuredToolName(taken: readonly string[]): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? MEMBER : `${MEMBER}_${count}`;
    if (!taken.includes(name)) return name;
  }
}
