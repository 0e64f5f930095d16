import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { Extra, OutputFormat } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import type { AnswerReading } from "../../codec.ts";
import { objectRoot, structuredToolName } from "../../reading/answer-schema.ts";
import type { StandIn } from "../tools.ts";
import type { RequestScope } from "./request-scope.ts";

export function decodeFormat(body: Fields): { format?: OutputFormat; extras: Extra[] } {
  const fields = new Fields(body.object("response_format"));
  const type = fields.string("type");
  const inner = new Fields(fields.object("json_schema"));
  if (type === "json_object") return { format: { type: "json" }, extras: leftOver(fields) };
  if (type !== "json_schema") return { extras: [] };
  const name = inner.string("name");
  const description = inner.string("description");
  const strict = inner.boolean("strict");
  const format: OutputFormat = {
    type: "schema",
    schema: inner.object("schema") ?? {},
    ...withoutAbsent({ name, description, strict }),
  };
  return { format, extras: [...leftOver(fields), ...leftOver(inner, "json_schema")] };
}

function leftOver(fields: Fields, ...keys: string[]): Extra[] {
  const rest = Object.entries(fields.rest() ?? {});
  return rest.map(([key, value]) => ({ keys: ["response_format", ...keys, key], value }));
}

export interface EncodedFormat {
  fields: JsonObject;
  reading: AnswerReading;
  standIn?: StandIn;
  /** What the prompt must say as well. */
  instruction?: string;
}

/** The response format in the provider's own fields, or as a tool whose arguments are the response. */
export function encodeFormat(scope: RequestScope): EncodedFormat {
  const { call, context, notes } = scope;
  const { format } = call;
  const path = call.paths.format ?? "response_format";
  if (format === undefined) return { fields: {}, reading: {} };
  const { outputFormats } = context.quirks;
  if (format.type === "json") {
    if (outputFormats.includes("json"))
      return { fields: { response_format: { type: "json_object" } }, reading: {}, ...sayJson(scope) };
    notes.approximated(path, "this provider has no JSON mode; the prompt asks for JSON instead");
    return { fields: {}, reading: {}, instruction: JSON_INSTRUCTION };
  }
  const { schema, reading } = objectRoot(format);
  const { name = "answer", description, strict } = format;
  if (outputFormats.includes("schema") && context.traits.structuredOutput !== false) {
    const json_schema = { name: legalName(name), schema, ...withoutAbsent({ strict, description }) };
    return { fields: { response_format: { type: "json_schema", json_schema } }, reading };
  }
  const taken = call.tools.flatMap((tool) => ("name" in tool ? [tool.name] : []));
  const standIn = { name: structuredToolName(taken), schema, ...withoutAbsent({ description }) };
  notes.approximated(path, "this provider does not support response schemas; a tool call is used instead");
  return { fields: {}, reading: { ...reading, structuredTool: standIn.name }, standIn };
}

const JSON_INSTRUCTION = "Answer with a JSON object and nothing else.";

/** Providers reject a request for JSON if the prompt does not mention it. Clients of this protocol know that, others cannot. */
function sayJson({ call, notes }: RequestScope): { instruction?: string } {
  if (call.dialect === "chat") return {};
  const texts = [call.system, ...call.turns.map((turn) => turn.parts)].flat();
  const said = texts.some((part) => part.type === "text" && /json/i.test(part.text));
  if (said) return {};
  notes.approximated(
    call.paths.format ?? "response_format",
    "this provider requires the prompt to mention JSON; a sentence was added",
  );
  return { instruction: JSON_INSTRUCTION };
}

const legalName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "answer";
