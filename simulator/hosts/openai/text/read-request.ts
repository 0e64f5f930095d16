import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import { mergeTurns, type OutputFormat, type Prompt, type Thinking, type Tool } from "../../../text/prompt.ts";
import {
  badValue,
  optionalBoolean,
  optionalEnum,
  optionalNumber,
  requireArray,
  requireObject,
  requireString,
  wrongType,
} from "./check.ts";
import { invalid } from "./errors.ts";
import { readMessages } from "./read-messages.ts";
import { readSpokenForm, type SpokenForm } from "./spoken-answer.ts";
import { checkStrictSchema } from "./strict-schema.ts";

/** Every field of a request that the host knows. */
export const FIELDS: ReadonlySet<string> = new Set(
  `messages model max_completion_tokens max_tokens temperature top_p n stop frequency_penalty presence_penalty logit_bias
  logprobs top_logprobs tools tool_choice parallel_tool_calls reasoning_effort verbosity response_format web_search_options
  metadata modalities audio store stream stream_options seed prediction service_tier prompt_cache_key prompt_cache_retention
  prompt_cache_options safety_identifier user moderation functions function_call`.split(/\s+/),
);

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export interface ChatRequest {
  prompt: Prompt;
  stream: boolean;
  includeUsage: boolean;
  obfuscate: boolean;
  /** How many alternatives to show for each token; `undefined` when no logprobs are wanted. */
  topLogprobs: number | undefined;
  /** The response is spoken. */
  spoken: SpokenForm | undefined;
}

function refuseUnknown(body: JsonObject, model: SimulatedModel): void {
  const takesReasoning = model.traits.thinks === "asked" || model.traits.thinks === "strict";
  for (const name of Object.keys(body)) {
    if (FIELDS.has(name) || (name === "reasoning" && takesReasoning)) continue;
    throw invalid(`Unrecognized request argument supplied: ${name}`, name, "unknown_parameter");
  }
}

/** What OpenAI's reasoning models refuse. */
function refuseSampling(body: JsonObject): void {
  const isSet = (name: string): boolean => body[name] !== undefined && body[name] !== null;
  const unsupported = (name: string, advice: string): Error =>
    invalid(
      `Unsupported parameter: '${name}' is not supported with this model.${advice}`,
      name,
      "unsupported_parameter",
    );
  if (isSet("max_tokens")) throw unsupported("max_tokens", " Use 'max_completion_tokens' instead.");
  const sampling = body.reasoning_effort === "none" ? [] : ["top_p", "logprobs", "top_logprobs"];
  for (const name of [...sampling, "frequency_penalty", "presence_penalty", "logit_bias", "stop"]) {
    if (isSet(name)) throw unsupported(name, "");
  }
  if (isSet("temperature") && body.temperature !== 1 && body.reasoning_effort !== "none") {
    throw invalid(
      `Unsupported value: 'temperature' does not support ${String(body.temperature)} with this model. Only the default (1) value is supported.`,
      "temperature",
      "unsupported_value",
    );
  }
}

export function readStop(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) throw wrongType(value, "one of a string or array of strings", "stop");
  if (value.length > 4) {
    throw invalid(
      `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${value.length} instead.`,
      "stop",
      "array_above_max_length",
    );
  }
  return value.map((one, at) => requireString(one, `stop[${at}]`));
}

export function requireObjectSchema(schema: JsonObject, name: string, param: string): void {
  const refuse = (reason: string): Error =>
    invalid(`Invalid schema for function '${name}': ${reason}`, param, "invalid_function_parameters");
  if (schema.type !== "object") {
    throw refuse(`schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema.type ?? "None")}"'.`);
  }
  if (!isObject(schema.properties)) throw refuse("In context=(), object schema missing properties.");
}

function readTool(value: Json, param: string): Tool {
  const tool = requireObject(value, param);
  if (tool.type !== "function" && tool.type !== "custom") {
    throw badValue(tool.type ?? "", ["function", "custom"], `${param}.type`);
  }
  const inner = requireObject(tool[tool.type], `${param}.${tool.type}`);
  const name = requireString(inner.name, `${param}.${tool.type}.name`);
  if (!TOOL_NAME.test(name)) {
    throw invalid(
      `Invalid '${param}.${tool.type}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.`,
      `${param}.${tool.type}.name`,
      "invalid_value",
    );
  }
  const { parameters } = inner;
  const schema =
    parameters === undefined || parameters === null
      ? undefined
      : requireObject(parameters, `${param}.function.parameters`);
  if (schema !== undefined) requireObjectSchema(schema, name, `${param}.function.parameters`);
  if (inner.strict === true && schema !== undefined) {
    checkStrictSchema(schema, `function '${name}'`, `${param}.function.parameters`, "invalid_function_parameters");
  }
  const description = typeof inner.description === "string" ? inner.description : "";
  return { name, description, schema, freeform: tool.type === "custom" };
}

function nameIn(choice: JsonObject, param: string): string {
  const kind = choice.type === "custom" ? "custom" : "function";
  return requireString(requireObject(choice[kind], `${param}.${kind}`).name, `${param}.${kind}.name`);
}

function readChoice(value: Json | undefined, tools: readonly Tool[]): Prompt["choice"] {
  if (value === undefined || value === null || value === "auto") return { mode: "auto" };
  if (value === "none" || value === "required") return { mode: value };
  if (!isObject(value)) throw badValue(value, ["none", "auto", "required"], "tool_choice");
  let choice: Prompt["choice"] = { mode: "required", names: [] };
  if (value.type === "allowed_tools") {
    const allowed = requireObject(value.allowed_tools, "tool_choice.allowed_tools");
    const listed = requireArray(allowed.tools, "tool_choice.allowed_tools.tools");
    const names = listed.map((one, at) => {
      const param = `tool_choice.allowed_tools.tools[${at}]`;
      return nameIn(requireObject(one, param), param);
    });
    choice = { mode: allowed.mode === "required" ? "required" : "auto", names };
  } else if (value.type === "function" || value.type === "custom") {
    choice = { mode: "required", names: [nameIn(value, "tool_choice")] };
  } else {
    throw badValue(value.type ?? "", ["function", "custom", "allowed_tools"], "tool_choice.type");
  }
  const unknown = choice.names?.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined) {
    throw invalid(`Invalid value for 'tool_choice': '${unknown}' is not one of 'tools'.`, "tool_choice", null);
  }
  return choice;
}

function readFormat(value: Json | undefined): OutputFormat {
  if (value === undefined || value === null) return { type: "text" };
  const format = requireObject(value, "response_format");
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") return { type: "json" };
  if (format.type !== "json_schema") {
    throw badValue(format.type ?? "", ["text", "json_object", "json_schema"], "response_format.type");
  }
  const wrapped = requireObject(format.json_schema, "response_format.json_schema");
  const name = requireString(wrapped.name, "response_format.json_schema.name");
  if (!TOOL_NAME.test(name)) {
    throw invalid(
      "Invalid 'response_format.json_schema.name': string does not match the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.",
      "response_format.json_schema.name",
      "invalid_value",
    );
  }
  const schema = requireObject(wrapped.schema, "response_format.json_schema.schema");
  if (wrapped.strict === true) checkStrictSchema(schema, `response_format '${name}'`, "response_format", null);
  return { type: "schema", schema };
}

/** Choices need tools, and the host requires the prompt to mention JSON. */
function checkRelations(body: JsonObject, tools: readonly Tool[]): void {
  for (const name of ["tool_choice", "parallel_tool_calls"]) {
    if (tools.length > 0 || body[name] === undefined || body[name] === null || body[name] === "none") continue;
    throw invalid(`Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`, name, null);
  }
  const wantsJson = isObject(body.response_format) && body.response_format.type === "json_object";
  if (wantsJson && !/json/i.test(JSON.stringify(body.messages))) {
    throw invalid(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      "messages",
      null,
    );
  }
}

function readThinking(body: JsonObject, model: SimulatedModel): Thinking {
  const effort = optionalEnum(body, "reasoning_effort", EFFORTS);
  const { thinks } = model.traits;
  if (thinks === undefined) return "off";
  if (thinks === "unseen") return effort === "none" ? "off" : "hidden";
  const reasoning = isObject(body.reasoning) ? body.reasoning : undefined;
  const wanted = effort === undefined ? reasoning !== undefined && reasoning.enabled !== false : effort !== "none";
  if (!wanted) return "off";
  return reasoning?.exclude === true ? "hidden" : "shown";
}

/** Hosts of thinking models want the thoughts of a tool turn back (the rule of DeepSeek and Moonshot). */
function requireThoughtsBack(body: JsonObject): void {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  const lastUser = messages.findLastIndex((message) => isObject(message) && message.role === "user");
  for (const [at, message] of messages.entries()) {
    if (at < lastUser || !isObject(message) || message.role !== "assistant" || !Array.isArray(message.tool_calls))
      continue;
    if (typeof message.reasoning_content === "string" && message.reasoning_content !== "") continue;
    throw invalid(
      `Missing 'reasoning_content' in messages[${at}]: with thinking enabled, the thoughts of a tool call must be passed back.`,
      `messages[${at}].reasoning_content`,
      null,
    );
  }
}

function checkNumbers(body: JsonObject): void {
  optionalNumber(body, "temperature", [0, 2]);
  optionalNumber(body, "top_p", [0, 1]);
  optionalNumber(body, "frequency_penalty", [-2, 2]);
  optionalNumber(body, "presence_penalty", [-2, 2]);
  optionalNumber(body, "seed", [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER], true);
  const choices = optionalNumber(body, "n", [1, 128], true);
  if (choices !== undefined && choices > 1)
    throw invalid("The simulator gives one choice: 'n' must be 1.", "n", "invalid_value");
}

function readLogprobs(body: JsonObject): number | undefined {
  const wanted = optionalBoolean(body, "logprobs") ?? false;
  const top = optionalNumber(body, "top_logprobs", [0, 20], true);
  if (top !== undefined && !wanted) {
    throw invalid("The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", "top_logprobs", null);
  }
  return wanted ? (top ?? 0) : undefined;
}

/** Validates as the host does, and puts the request into the simulator's words. */
export function readRequest(body: JsonObject, model: SimulatedModel): ChatRequest {
  refuseUnknown(body, model);
  if (model.traits.thinks === "unseen") refuseSampling(body);
  checkNumbers(body);
  const conversation = readMessages(body.messages);
  const limits: [number, number] = [1, Number.MAX_SAFE_INTEGER];
  const maxTokens =
    optionalNumber(body, "max_completion_tokens", limits, true) ?? optionalNumber(body, "max_tokens", limits, true);
  const declared = body.tools === undefined || body.tools === null ? [] : requireArray(body.tools, "tools");
  if (Array.isArray(body.tools) && declared.length === 0) {
    throw invalid("Invalid 'tools': empty array. Expected an array with minimum length 1.", "tools", "empty_array");
  }
  const tools = declared.map((tool, at) => readTool(tool, `tools[${at}]`));
  checkRelations(body, tools);
  const thinking = readThinking(body, model);
  if (model.traits.thinks === "strict" && thinking !== "off") requireThoughtsBack(body);
  const streamOptions = isObject(body.stream_options) ? body.stream_options : {};
  return {
    prompt: {
      system: conversation.system,
      turns: mergeTurns(conversation.turns),
      tools,
      choice: readChoice(body.tool_choice, tools),
      parallel: optionalBoolean(body, "parallel_tool_calls") ?? true,
      format: readFormat(body.response_format),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      stop: readStop(body.stop),
      thinking,
      search: isObject(body.web_search_options),
      storedTokens: 0,
    },
    stream: optionalBoolean(body, "stream") ?? false,
    includeUsage: streamOptions.include_usage === true,
    obfuscate: streamOptions.include_obfuscation !== false,
    topLogprobs: readLogprobs(body),
    spoken: readSpokenForm(body, model),
  };
}
