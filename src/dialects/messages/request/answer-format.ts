import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall } from "../../../canon/call.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { AnswerReading } from "../../codec.ts";
import { describedSchema, objectRoot, structuredToolName } from "../../reading/answer-schema.ts";
import { lowerEnforcedSchema } from "../../request/lower-enforced-schema.ts";

/** How a response format is requested: at most one of the three. */
export interface EncodedFormat {
  /** For `output_config`. */
  format?: JsonObject;
  /** A tool that replaces a schema. */
  standIn?: JsonObject;
  /** A line for the system prompt. */
  instruction?: string;
  reading: AnswerReading;
}

/** `knowsSchemas`: the host and the model accept a schema for the response. */
export function encodeFormat(call: CanonCall, knowsSchemas: boolean, notes: Notes): EncodedFormat {
  const { format } = call;
  const path = call.paths.format ?? "output_config.format";
  if (format === undefined) return { reading: {} };
  if (format.type === "json") {
    notes.approximated(path, "this protocol has no JSON mode; the prompt asks for JSON instead");
    return { instruction: "Answer with JSON only.", reading: {} };
  }
  const { schema, reading } = objectRoot(format);
  if (knowsSchemas) {
    const lowered = call.dialect === "messages" ? schema : lowerEnforcedSchema(schema, path, notes);
    return { format: { type: "json_schema", schema: describedSchema(lowered, format, path, notes) }, reading };
  }
  notes.approximated(path, "this provider does not support response schemas; a forced tool call is used instead");
  const name = structuredToolName(call.tools.map((tool) => ("name" in tool ? tool.name : "")));
  return {
    standIn: {
      name,
      description: format.description ?? "Gives the answer in the form that was asked for.",
      input_schema: schema,
    },
    reading: { ...reading, structuredTool: name },
  };
}
