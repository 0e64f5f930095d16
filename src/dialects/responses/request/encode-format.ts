import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { AnswerReading } from "../../codec.ts";
import { objectRoot, structuredToolName } from "../../reading/answer-schema.ts";
import { isOwn, type RequestScope } from "./request-scope.ts";

interface EncodedFormat {
  text?: JsonObject;
  reading: AnswerReading;
  /** Messages for the input, if the prompt must mention the format as well. */
  instruction: readonly JsonObject[];
}

const JSON_INSTRUCTION = { type: "message", role: "system", content: "Answer with a JSON object and nothing else." };

/** `text`: the response format and the verbosity. The format is flat here, unlike in chat (R18). */
export function encodeFormat(scope: RequestScope): EncodedFormat {
  const { call, context } = scope;
  const { verbosity } = call;
  const takesVerbosity = verbosity !== undefined && !context.quirks.unsupported.includes("verbosity");
  const { format, ...rest } = encodeForm(scope);
  const text = { ...withoutAbsent({ format }), ...(takesVerbosity ? { verbosity } : {}) };
  return { ...rest, ...(Object.keys(text).length === 0 ? {} : { text }) };
}

function encodeForm(scope: RequestScope): Omit<EncodedFormat, "text"> & { format?: JsonObject } {
  const { call, context, notes } = scope;
  const { format } = call;
  const path = call.paths.format ?? "format";
  if (format === undefined) return { reading: {}, instruction: [] };
  const { outputFormats } = context.quirks;
  if (format.type === "json") {
    if (outputFormats.includes("json")) {
      return { format: { type: "json_object" }, reading: {}, instruction: sayJson(scope, path) };
    }
    notes.approximated(path, "this provider has no JSON mode; the prompt asks for JSON instead");
    return { reading: {}, instruction: [JSON_INSTRUCTION] };
  }
  const { schema, reading } = objectRoot(format);
  const { name = structuredToolName([]), description, strict } = format;
  if (!outputFormats.includes("schema") || context.traits.structuredOutput === false) {
    notes.approximated(path, "this provider does not support response schemas; the schema was added to the prompt");
    return { reading, instruction: [schemaInstruction(schema)] };
  }
  const wire = {
    type: "json_schema",
    name: legalName(name),
    schema,
    ...withoutAbsent({ strict, description }),
  };
  return { format: wire, reading, instruction: [] };
}

const schemaInstruction = (schema: JsonObject): JsonObject => ({
  type: "message",
  role: "system",
  content: `Answer with a JSON object by this JSON Schema and nothing else:\n${JSON.stringify(schema)}`,
});

/** Providers reject a request for JSON if the input does not mention it. Clients of this dialect know that, others cannot. */
function sayJson(scope: RequestScope, path: string): readonly JsonObject[] {
  const said = scope.call.turns.some(({ parts }) =>
    parts.some((part) => part.type === "text" && /json/i.test(part.text)),
  );
  if (said || isOwn(scope)) return [];
  scope.notes.approximated(path, "this provider requires the prompt to mention JSON; a sentence was added");
  return [JSON_INSTRUCTION];
}

const legalName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "answer";
