import { isObject, type JsonObject } from "../../base/json.ts";
import type { OutputFormat } from "../../canon/call.ts";
import type { Notes } from "../../canon/notes.ts";
import type { AnswerReading } from "../codec.ts";

const MEMBER = "answer";

/**
 * An answer's schema for targets that want an object at its root: anything else, a single word too, becomes the one member
 * of an object, and the reading says that it has to be taken out again.
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

/** What a form is for stands in its schema, at targets that have no other place for it. */
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
      "the schema has a description of its own, and there is one place for both",
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

/** A name for the tool that stands in for a schema, and that no tool of the client's has. */
export function structuredToolName(taken: readonly string[]): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? MEMBER : `${MEMBER}_${count}`;
    if (!taken.includes(name)) return name;
  }
}
