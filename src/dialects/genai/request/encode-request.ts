import type { JsonObject } from "../../../base/json.ts";
import { adaptNative } from "../../../canon/adapt-native.ts";
import type { CanonCall, Extra } from "../../../canon/call.ts";
import { mergeExtras, reportExtras } from "../../../canon/extras.ts";
import { Notes } from "../../../canon/notes.ts";
import type { AnswerReading, EncodedRequest, EncodeRequestContext } from "../../codec.ts";
import { objectRoot, structuredToolName } from "../../reading/answer-schema.ts";
import { fitToolNames, type ToolNameRule } from "../../request/fit-tool-names.ts";
import { encodePromptPart } from "../content.ts";
import type { GenaiQuirks } from "../quirks.ts";
import { methodNotes, withoutMethods } from "../safety-method.ts";
import type { EncodeScope } from "./encode-scope.ts";
import { encodeTurns } from "./encode-turns.ts";
import { lowerSchema } from "./lower-schema.ts";
import { encodeSettings } from "./settings.ts";
import { encodeToolChoice, encodeTools, functionNames, withoutDialect } from "./tools.ts";

/** What the vendor accepts as the name of a function. */
export const TOOL_NAMES: ToolNameRule = {
  pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
  foreign: /[^a-zA-Z0-9_.:-]/g,
  longest: 128,
};

/**
 * A canonical call as a generateContent request; model and verb are in the URL.
 *
 * The normal form, to which encoding a decoded request of this dialect returns: every content has a role (`user` or `model`),
 * adjacent contents of one role are joined, and unsigned empty texts are omitted; calls are complete and have arguments, calls
 * and results have ids, results have a response; the system instruction has no role; a file has the media type that its URL
 * implies; all functions are in one tool, with plain JSON Schema if the host accepts it, and every other tool is separate; fields
 * with their default value (an empty list of names, a mime type of plain text, one candidate, no log probabilities, the modality
 * TEXT, an unspecified level, resolution or mode) are omitted.
 */
export function encodeRequest(asked: CanonCall, context: EncodeRequestContext<GenaiQuirks>): EncodedRequest {
  const notes = new Notes();
  const { call, reading: names } = fitToolNames(adaptNative(asked, "genai", notes), TOOL_NAMES, notes);
  const scope: EncodeScope = { call, context, notes };
  const standIn = encodeStandIn(scope);
  const inWords = standIn === undefined && excludesFormat(scope) && call.format?.type === "json";
  if (inWords)
    notes.approximated(
      call.paths.format ?? "format",
      "this model does not support JSON mode together with tools; the prompt asks for JSON instead",
    );
  const system = [
    ...call.system.flatMap((part) => encodePromptPart(part, scope)),
    ...(inWords ? [{ text: "Answer with JSON only." }] : []),
  ];
  const contents = encodeTurns(scope);
  const tools = encodeTools(scope, standIn?.declaration);
  const choice = standIn?.choice ?? encodeToolChoice(scope);
  const config = encodeSettings(scope, standIn !== undefined || inWords);
  const body: JsonObject = {
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    contents,
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice === undefined ? {} : { toolConfig: { functionCallingConfig: choice } }),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...(call.cachedContent === undefined ? {} : { cachedContent: call.cachedContent }),
  };
  return { body: withExtras(body, scope), notes: scope.notes.list, reading: { ...names, ...standIn?.reading } };
}

function withExtras(body: JsonObject, { call, context, notes }: EncodeScope): JsonObject {
  if (call.dialect !== "genai") {
    reportExtras(call, notes);
    return body;
  }
  if (context.quirks.labels) return mergeExtras(body, call.extras);
  const known = call.extras.filter(({ keys }) => keys[0] !== "labels");
  if (known.length < call.extras.length) notes.dropped("labels", "this provider does not support labels");
  return mergeExtras(
    body,
    known.map((extra) => (extra.keys[0] === "safetySettings" ? withKnownSettings(extra, notes) : extra)),
  );
}

function withKnownSettings(extra: Extra, notes: Notes): Extra {
  for (const { path, reason } of methodNotes(extra.value)) notes.dropped(path, reason);
  return { ...extra, value: withoutMethods(extra.value) };
}

interface StandIn {
  declaration: JsonObject;
  choice: JsonObject;
  reading: AnswerReading;
}

/** For models without response schemas: a function that takes the response as its arguments and must be called. */
function encodeStandIn(scope: EncodeScope): StandIn | undefined {
  const { call, context, notes } = scope;
  const { format } = call;
  const taken = functionNames(call);
  const excluded = taken.length > 0 && excludesFormat(scope);
  if (format?.type !== "schema" || (context.traits.structuredOutput !== false && !excluded)) return undefined;
  const path = call.paths.format ?? "format";
  notes.approximated(
    path,
    `this model does not support response schemas${excluded ? " together with functions" : ""}; a forced function call is used instead`,
  );
  const name = structuredToolName(taken);
  const { schema, reading } = objectRoot(format);
  const parameters = context.quirks.jsonSchema
    ? { parametersJsonSchema: withoutDialect(schema) }
    : {
        parameters: lowerSchema(schema, (loss) =>
          notes.approximated(path, `this provider's schema language cannot express everything: ${loss}`),
        ),
      };
  return {
    declaration: { name, description: format.description ?? "Gives the answer.", ...parameters },
    choice: { mode: "ANY", ...choiceBeside(name, taken, call) },
    reading: { ...reading, structuredTool: name },
  };
}

/** If the client has functions, the model may call them first, and must call one that the client forces. */
function choiceBeside(standIn: string, taken: readonly string[], { toolChoice }: CanonCall): JsonObject {
  if (taken.length === 0 || toolChoice?.type === "none") return { allowedFunctionNames: [standIn] };
  if (toolChoice?.type === "tool" && taken.includes(toolChoice.name))
    return { allowedFunctionNames: [toolChoice.name] };
  if (toolChoice?.type !== "allowed") return {};
  const functions = new Set(taken);
  return { allowedFunctionNames: [...toolChoice.names.filter((name) => functions.has(name)), standIn] };
}

/** Whether the model rejects a response format because of the tools next to it. A client of this protocol is expected to know. */
function excludesFormat({ call, context }: EncodeScope): boolean {
  return call.dialect !== "genai" && call.tools.length > 0 && !context.traits.schemaBesideTools;
}
