import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { adaptNative } from "../../../canon/adapt-native.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { mergeExtras, reportExtras } from "../../../canon/extras.ts";
import { Notes } from "../../../canon/notes.ts";
import type { FunctionTool } from "../../../canon/tool.ts";
import type { AnswerReading, EncodedRequest, EncodeRequestContext } from "../../codec.ts";
import { TOOL_NAMES } from "../../genai/request/encode-request.ts";
import { functionNames, withoutDialect } from "../../genai/request/tools.ts";
import { describedSchema, objectRoot, structuredToolName } from "../../reading/answer-schema.ts";
import { fitToolNames } from "../../request/fit-tool-names.ts";
import type { InteractionsQuirks } from "../quirks.ts";
import { OWN_ORIGIN } from "../signature.ts";
import { type EncodeScope, isOwn, noteCacheMark } from "./encode-scope.ts";
import { encodeSettings } from "./encode-settings.ts";
import { encodeSteps } from "./encode-steps.ts";
import { choiceBeside, encodeToolChoice, encodeTools } from "./encode-tools.ts";
import { encodeFormat } from "./response-format.ts";

/**
 * A canonical call as a request to create an interaction, which the provider does not store.
 *
 * The normal form, to which encoding a decoded request of this dialect returns: the input is a list of steps, adjacent contents of one
 * side share a step, results are steps with the name of their function, and empty texts are omitted; the format is an object with a
 * type; fields with their default value are omitted.
 */
export function encodeRequest(asked: CanonCall, context: EncodeRequestContext<InteractionsQuirks>): EncodedRequest {
  const notes = new Notes();
  const { call, reading: names } = fitToolNames(adaptNative(asked, OWN_ORIGIN, notes), TOOL_NAMES, notes);
  const scope: EncodeScope = { call, context, notes };
  const standIn = encodeStandIn(scope);
  const answer = standIn === undefined ? encodeAnswerFormat(scope) : {};
  const tools = encodeTools(scope, standIn?.tool);
  const choice = standIn === undefined ? encodeToolChoice(scope) : standIn.choice;
  const config = { ...encodeSettings(scope), ...(choice === undefined ? {} : { tool_choice: choice }) };
  for (const part of call.system) noteCacheMark(part, scope);
  const system = call.system.map(({ text }) => text).filter((text) => text !== "");
  const instruction = [...system, ...(answer.words === undefined ? [] : [answer.words])].join("\n\n");
  const body: JsonObject = {
    model: context.upstreamModel,
    ...(instruction === "" ? {} : { system_instruction: instruction }),
    input: encodeSteps(scope),
    ...(tools.length > 0 ? { tools } : {}),
    ...(Object.keys(config).length > 0 ? { generation_config: config } : {}),
    ...withoutAbsent({ response_format: answer.format, cached_content: call.cachedContent }),
    store: false,
    ...(context.stream ? { stream: true } : {}),
  };
  return {
    body: withExtras(body, scope),
    notes: notes.list,
    reading: { ...names, ...standIn?.reading, ...answer.reading },
  };
}

function withExtras(body: JsonObject, scope: EncodeScope): JsonObject {
  if (isOwn(scope)) return mergeExtras(body, scope.call.extras);
  reportExtras(scope.call, scope.notes);
  return body;
}

interface AnswerFormat {
  format?: JsonObject;
  /** An instruction that replaces the format. */
  words?: string;
  reading?: AnswerReading;
}

function encodeAnswerFormat(scope: EncodeScope): AnswerFormat {
  const { call, notes } = scope;
  const { format } = call;
  if (format === undefined) return {};
  const path = call.paths.format ?? "format";
  if (format.type === "json" && excludesFormat(scope)) {
    notes.approximated(
      path,
      "this model does not support JSON mode together with tools; the prompt asks for JSON instead",
    );
    return { words: "Answer with JSON only." };
  }
  if (format.type === "json") return { format: encodeFormat(format, undefined) };
  const described = describedSchema(format.schema, format, path, notes);
  // A single word would come in quotes.
  const root = format.word ? objectRoot(format) : { schema: described, reading: {} };
  return { format: encodeFormat(format, withoutDialect(root.schema)), reading: root.reading };
}

interface StandIn {
  tool: FunctionTool;
  choice: unknown;
  reading: AnswerReading;
}

/** For models without response schemas: a function that takes the response as its arguments and must be called. */
function encodeStandIn(scope: EncodeScope): StandIn | undefined {
  const { call, context, notes } = scope;
  const { format } = call;
  const taken = functionNames(call);
  const excluded = taken.length > 0 && excludesFormat(scope);
  if (format?.type !== "schema" || (context.traits.structuredOutput !== false && !excluded)) return undefined;
  notes.approximated(
    call.paths.format ?? "format",
    `this model does not support response schemas${excluded ? " together with functions" : ""}; a forced function call is used instead`,
  );
  const name = structuredToolName(taken);
  const { schema, reading } = objectRoot(format);
  const description = format.description ?? "Gives the answer.";
  return {
    tool: { type: "function", name, description, schema, path: call.paths.format ?? "format" },
    choice: choiceBeside(name, call, taken),
    reading: { ...reading, structuredTool: name },
  };
}

/** Whether the model rejects a response format because of the tools next to it. A client of this protocol is expected to know. */
const excludesFormat = (scope: EncodeScope): boolean =>
  !isOwn(scope) && scope.call.tools.length > 0 && !scope.context.traits.schemaBesideTools;
