import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { adaptNative } from "../../canon/adapt-native.ts";
import { withFallingAges, withHourAges, withMostMarks } from "../../canon/cache-marks.ts";
import type { CanonCall } from "../../canon/call.ts";
import { reportExtras } from "../../canon/extras.ts";
import { joinTexts } from "../../canon/join-texts.ts";
import { Notes } from "../../canon/notes.ts";
import type { FunctionTool } from "../../canon/tool.ts";
import type { AnswerReading, EncodedRequest, EncodeRequestContext } from "../codec.ts";
import { describedSchema, objectRoot, structuredToolName } from "../reading/answer-schema.ts";
import { fitToolNames, plainNames } from "../request/fit-tool-names.ts";
import { lowerEnforcedSchema } from "../request/lower-enforced-schema.ts";
import { ContentEncoder } from "./content.ts";
import { encodeTurns, type Message } from "./encode-turns.ts";
import { encodeAmount } from "./reasoning.ts";
import { dropUnknown, encodeLimit, encodeSampling, encodeStops, encodeTopK } from "./settings.ts";
import { encodeTools, takesCachePoints } from "./tools.ts";

const JSON_WORDS = "Answer with one JSON object and nothing else.";

/** The provider returns 400 for a fifth mark. */
const MAX_MARKS = 4;

const TOOL_NAMES = plainNames(64);

export function encodeRequest(asked: CanonCall, context: EncodeRequestContext): EncodedRequest {
  const notes = new Notes();
  reportExtras(asked, notes);
  const { call: named, reading: names } = fitToolNames(
    joinTexts(adaptNative(asked, "converse", notes)),
    TOOL_NAMES,
    notes,
  );
  const call = takesCachePoints(context)
    ? withFallingAges(withHourAges(withMostMarks(named, MAX_MARKS, notes), notes), notes)
    : named;
  const format = encodeFormat(call, context, notes);
  const { toolConfig, forced } = encodeTools(call, context, format.standIn, notes);
  const content = new ContentEncoder(call, context, notes);
  const system = [
    ...content.encodeSystem(call.system),
    ...(format.words === undefined ? [] : [{ text: format.words }]),
  ];
  const messages = encodeTurns(call, context, content, notes);
  const maxTokens = encodeLimit(call, context, notes);
  const forbidden = forced ? "a model that must call a tool cannot think first" : whyNotThink(messages, context);
  const reasoning = encodeAmount(call, context, { maxTokens, forbidden }, notes);
  const inferenceConfig = {
    ...withoutAbsent({ maxTokens: reasoning.maxTokens }),
    ...encodeSampling(call, context, reasoning.thinks, notes),
    ...encodeStops(call, context, notes),
  };
  const outputConfig = { ...reasoning.outputConfig, ...format.outputConfig };
  const fields = {
    ...reasoning.fields,
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
    ...encodeTopK(call, context, reasoning.thinks, notes),
  };
  dropUnknown(call, notes);
  const body = {
    ...(system.length === 0 ? {} : { system }),
    messages,
    ...(Object.keys(inferenceConfig).length === 0 ? {} : { inferenceConfig }),
    ...withoutAbsent({ toolConfig }),
    ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: fields }),
    // The first path is for whole responses, the second for streams. Missing paths are ignored.
    ...("stopSequences" in inferenceConfig && context.origin === "messages"
      ? { additionalModelResponseFieldPaths: ["/stop_sequence", "/delta/stop_sequence"] }
      : {}),
  };
  return { body, notes: notes.list, reading: { ...names, ...format.reading } };
}

interface EncodedFormat {
  reading: AnswerReading;
  standIn?: FunctionTool;
  outputConfig?: JsonObject;
  words?: string;
}

/** A model that supports response schemas gets the schema. For others, a tool with that schema replaces it. */
function encodeFormat(call: CanonCall, context: EncodeRequestContext, notes: Notes): EncodedFormat {
  const { format, paths } = call;
  if (format === undefined) return { reading: {} };
  if (format.type === "json") {
    notes.approximated(paths.format ?? "format", "this provider has no JSON mode; the prompt asks for JSON instead");
    return { reading: {}, words: JSON_WORDS };
  }
  const { schema, reading } = objectRoot(format);
  if (context.origin === "messages" && context.traits.structuredOutput === true) {
    const kept = call.dialect === "messages" ? schema : lowerEnforcedSchema(schema, paths.format ?? "format", notes);
    const described = describedSchema(kept, format, paths.format ?? "format", notes);
    return { reading, outputConfig: { format: { type: "json_schema", schema: described } } };
  }
  const name = structuredToolName(call.tools.flatMap((tool) => ("name" in tool ? [tool.name] : [])));
  notes.approximated(
    paths.format ?? "format",
    "this provider does not support response schemas; a tool call is used instead",
  );
  const description = format.description ?? "Gives the answer. Its arguments are the whole answer.";
  return {
    reading: { ...reading, structuredTool: name },
    standIn: { type: "function", name, description, schema, path: paths.format ?? "format" },
  };
}

/** Why a thinking model of the older form would reject the conversation: a partial response, or calls that do not begin with a thought. */
function whyNotThink(messages: readonly Message[], { traits }: EncodeRequestContext): string | undefined {
  if (messages.at(-1)?.role === "assistant") return "a model that thinks cannot continue a partial response";
  if (traits.reasoningForm === "adaptive") return undefined;
  const isResult = (block: JsonObject) => "toolResult" in block;
  const asked = messages.findLastIndex(({ role, content }) => role === "user" && !content.some(isResult));
  const answers = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
  // A model thinks before the first of its calls, and does not have to think again before the others.
  const thought = answers.some(({ content: [first] }) => first !== undefined && "reasoningContent" in first);
  return answers.length > 0 && !thought
    ? "when this model thinks, the calls in the history must start with its own signed thoughts"
    : undefined;
}
