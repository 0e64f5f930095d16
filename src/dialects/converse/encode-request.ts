import type { JsonObject } from "../../base/json.ts";
import { withFallingAges, withMostMarks } from "../../canon/cache-marks.ts";
import type { CallSettings, CanonCall } from "../../canon/call.ts";
import { clampOutput } from "../../canon/clamp-output.ts";
import { reportExtras } from "../../canon/extras.ts";
import { fieldPath } from "../../canon/field-names.ts";
import { joinTexts } from "../../canon/join-texts.ts";
import { Notes } from "../../canon/notes.ts";
import { resultsInCallOrder } from "../../canon/result-order.ts";
import type { FunctionTool } from "../../canon/tool.ts";
import { describedSchema, objectRoot, structuredToolName } from "../answer-schema.ts";
import type { AnswerReading, EncodedRequest, EncodeRequestContext } from "../codec.ts";
import { fitToolNames, plainNames } from "../fit-tool-names.ts";
import { GO_ON } from "../go-on.ts";
import { lowerHeldSchema } from "../lower-held-schema.ts";
import { ContentEncoder, type EncodedParts } from "./content.ts";
import { encodeAmount } from "./reasoning.ts";
import { cachePoint, encodeTools, takesCachePoints } from "./tools.ts";

/** Settings for which the protocol has no field, whatever the model. */
const UNKNOWN: readonly (keyof CallSettings)[] = [
  "frequencyPenalty",
  "presencePenalty",
  "seed",
  "logprobs",
  "logitBias",
  "verbosity",
  "userId",
  "cachedContent",
];

const JSON_WORDS = "Answer with one JSON object and nothing else.";

/** The host answers 400 to a fifth mark. */
const MAX_MARKS = 4;

const TOOL_NAMES = plainNames(64);

export function encodeRequest(asked: CanonCall, context: EncodeRequestContext): EncodedRequest {
  const notes = new Notes();
  reportExtras(asked, notes);
  const { call: named, reading: names } = fitToolNames(joinTexts(asked), TOOL_NAMES, notes);
  const call = takesCachePoints(context) ? withFallingAges(withMostMarks(named, MAX_MARKS, notes), notes) : named;
  const format = encodeFormat(call, context, notes);
  const { toolConfig, forced } = encodeTools(call, context, format.standIn, notes);
  const content = new ContentEncoder(call, context, notes);
  const system = [
    ...content.encodeSystem(call.system),
    ...(format.words === undefined ? [] : [{ text: format.words }]),
  ];
  const messages = encodeTurns(call, context, content, notes);
  const maxTokens = encodeLimit(call, context, notes);
  const forbidden = forced ? "a model that must call a tool cannot think before it" : whyNotThink(messages, context);
  const reasoning = encodeAmount(call, context, { maxTokens, forbidden }, notes);
  const inferenceConfig = {
    ...(reasoning.maxTokens === undefined ? {} : { maxTokens: reasoning.maxTokens }),
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
    ...(toolConfig === undefined ? {} : { toolConfig }),
    ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: fields }),
    // Whole answers have the sequence at the first place, streams at the second; a place that is not there is ignored.
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

/** Models that know an answer's schema are told it; for others a tool with that schema stands in. */
function encodeFormat(call: CanonCall, context: EncodeRequestContext, notes: Notes): EncodedFormat {
  const { format, paths } = call;
  if (format === undefined) return { reading: {} };
  if (format.type === "json") {
    notes.approximated(
      paths.format ?? "format",
      "this provider has no JSON mode; the model is asked for JSON in words",
    );
    return { reading: {}, words: JSON_WORDS };
  }
  const { schema, reading } = objectRoot(format);
  if (context.origin === "messages" && context.traits.structuredOutput === true) {
    const kept = call.dialect === "messages" ? schema : lowerHeldSchema(schema, paths.format ?? "format", notes);
    const described = describedSchema(kept, format, paths.format ?? "format", notes);
    return { reading, outputConfig: { format: { type: "json_schema", schema: described } } };
  }
  const name = structuredToolName(call.tools.flatMap((tool) => ("name" in tool ? [tool.name] : [])));
  notes.approximated(
    paths.format ?? "format",
    "a tool with this schema stands in for it; its arguments are the answer",
  );
  const description = format.description ?? "Gives the answer. Its arguments are the whole answer.";
  return {
    reading: { ...reading, structuredTool: name },
    standIn: { type: "function", name, description, schema, path: paths.format ?? "format" },
  };
}

interface Message {
  role: "user" | "assistant";
  content: readonly JsonObject[];
}

/** Roles must alternate: turns of one role that follow each other become one message, results of tools first. */
function encodeTurns(call: CanonCall, context: EncodeRequestContext, encoder: ContentEncoder, notes: Notes): Message[] {
  const merged: ({ role: Message["role"] } & EncodedParts)[] = [];
  for (const turn of resultsInCallOrder(call.turns)) {
    if (turn.name !== undefined) {
      notes.dropped(fieldPath(call.fieldNames, turn.path, "name"), "this protocol has no names of participants");
    }
    const role = turn.role === "assistant" ? "assistant" : "user";
    const encoded = encoder.encode(turn.parts, role);
    if (turn.role === "system" && encoded.others.length > 0) {
      notes.approximated(turn.path, "a system message inside the conversation goes as the user's, in tags");
      encoded.others = encoded.others.map((block) =>
        typeof block["text"] === "string" ? { text: `<system>${block["text"]}</system>` } : block,
      );
    }
    if (encoded.results.length === 0 && encoded.others.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === role) {
      last.results.push(...encoded.results);
      last.others.push(...encoded.others);
    } else merged.push({ role, ...encoded });
  }
  const messages: Message[] = merged.map(({ role, results, others }) => ({
    role,
    content: [...results, ...withText(others, call, notes)],
  }));
  trimPrefill(messages, call, notes);
  if (messages[0]?.role !== "user") {
    notes.approximated(
      call.turns[0]?.path ?? "messages",
      'this provider wants the user to speak first: "." was put before',
    );
    messages.unshift({ role: "user", content: [{ text: "." }] });
  }
  if (context.traits.prefill === false) askToGoOn(messages, call, notes);
  return call.cache === undefined ? messages : markLast(messages, call, context, notes);
}

/** Models refuse an answer's beginning that ends in white space. */
function trimPrefill(messages: Message[], call: CanonCall, notes: Notes): void {
  const last = messages.at(-1);
  const text = last?.content.at(-1)?.["text"];
  if (last?.role !== "assistant" || typeof text !== "string" || text.trimEnd() === text) return;
  notes.approximated(call.turns.at(-1)?.path ?? "messages", "white space at the end of a begun answer is cut off here");
  messages[messages.length - 1] = { ...last, content: [...last.content.slice(0, -1), { text: text.trimEnd() }] };
}

/** Newer models refuse a conversation in which the assistant has the last word. */
function askToGoOn(messages: Message[], { turns }: CanonCall, notes: Notes): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.content.some((block) => "toolUse" in block)) return;
  notes.approximated(
    turns.at(-1)?.path ?? "messages",
    "the model does not go on from the beginning of an answer by itself: it was asked to in words",
  );
  messages.push({ role: "user", content: [{ text: GO_ON }] });
}

/** The host refuses a document in a message without a word beside it. */
function withText(blocks: JsonObject[], { dialect }: CanonCall, notes: Notes): JsonObject[] {
  if (!blocks.some((block) => "document" in block) || blocks.some((block) => "text" in block)) return blocks;
  notes.approximated(
    dialect === "genai" ? "contents" : "messages",
    "this provider wants text beside a document; a short one is added",
  );
  return [...blocks, { text: "(See the document.)" }];
}

function markLast(messages: Message[], call: CanonCall, context: EncodeRequestContext, notes: Notes): Message[] {
  const { cache = {}, paths } = call;
  const last = messages.at(-1);
  if (!takesCachePoints(context)) notes.dropped(paths.cache ?? "cache", "this model takes no cache marks");
  else if (
    last !== undefined &&
    !last.content.some((block, at) => at === last.content.length - 1 && "cachePoint" in block)
  ) {
    return [...messages.slice(0, -1), { ...last, content: [...last.content, cachePoint(cache)] }];
  }
  return messages;
}

function encodeLimit(call: CanonCall, { traits }: EncodeRequestContext, notes: Notes): number | undefined {
  const { maxOutputTokens: wanted, paths } = call;
  if (wanted === undefined) return undefined;
  const lowered = (reason: string) => notes.approximated(paths.maxOutputTokens ?? "max_tokens", reason);
  return clampOutput(wanted, traits.maxOutputTokens, lowered);
}

/** What a thinking model of the older form refuses: a prefilled answer, and calls that did not begin with a thought. */
function whyNotThink(messages: readonly Message[], { traits }: EncodeRequestContext): string | undefined {
  if (messages.at(-1)?.role === "assistant") return "a model that thinks cannot go on from a begun answer";
  if (traits.reasoningForm === "adaptive") return undefined;
  const isResult = (block: JsonObject) => "toolResult" in block;
  const asked = messages.findLastIndex(({ role, content }) => role === "user" && !content.some(isResult));
  const answers = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
  // A model thinks before the first of its calls, and need not think again before the others.
  const thought = answers.some(({ content: [first] }) => first !== undefined && "reasoningContent" in first);
  return answers.length > 0 && !thought
    ? "the calls in the history do not begin with this model's own signed thoughts, as it demands when it thinks"
    : undefined;
}

function encodeSampling(
  call: CanonCall,
  { traits, origin }: EncodeRequestContext,
  thinks: boolean,
  notes: Notes,
): JsonObject {
  const { temperature, topP, paths } = call;
  const refused = traits.rejectsSampling
    ? "this model takes no sampling settings"
    : thinks
      ? "this model takes no sampling settings while it thinks"
      : undefined;
  if (refused !== undefined) {
    if (temperature !== undefined && !(thinks && temperature === 1)) {
      notes.dropped(paths.temperature ?? "temperature", refused);
    }
    if (topP !== undefined) notes.dropped(paths.topP ?? "top_p", refused);
    return {};
  }
  const clamped = temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature));
  if (clamped !== temperature)
    notes.approximated(paths.temperature ?? "temperature", `this provider's range makes it ${clamped}`);
  const both = temperature !== undefined && topP !== undefined && origin === "messages";
  if (both) notes.dropped(paths.topP ?? "top_p", "models of this family take temperature or this, not both");
  return {
    ...(clamped === undefined ? {} : { temperature: clamped }),
    ...(topP === undefined || both ? {} : { topP }),
  };
}

function encodeTopK(
  call: CanonCall,
  { traits, origin }: EncodeRequestContext,
  thinks: boolean,
  notes: Notes,
): JsonObject {
  const { topK, paths } = call;
  if (topK === undefined) return {};
  if (origin === "messages" && !thinks && !traits.rejectsSampling) return { top_k: topK };
  notes.dropped(paths.topK ?? "top_k", "this model does not take it here");
  return {};
}

function encodeStops(call: CanonCall, { traits, origin }: EncodeRequestContext, notes: Notes): JsonObject {
  const { stop = [], paths } = call;
  if (stop.length === 0) return {};
  const path = paths.stop ?? "stop";
  if (traits.rejectsStop) {
    notes.dropped(path, "this model takes no stop sequences");
    return {};
  }
  const kept = origin === "messages" ? stop.filter((sequence) => sequence.trim() !== "") : stop;
  if (kept.length < stop.length) notes.dropped(path, "this model takes no stop sequence of nothing but blanks");
  return kept.length === 0 ? {} : { stopSequences: kept };
}

function dropUnknown(call: CanonCall, notes: Notes): void {
  const reason = "this protocol has no such setting";
  for (const key of UNKNOWN) {
    const without = call[key] === undefined || (key.endsWith("Penalty") && call[key] === 0);
    if (!without) notes.dropped(call.paths[key] ?? key, reason);
  }
  if ((call.candidateCount ?? 1) > 1) notes.dropped(call.paths.candidateCount ?? "candidateCount", reason);
  if (call.parallelTools === false) notes.dropped(call.paths.parallelTools ?? "parallel_tool_calls", reason);
}
