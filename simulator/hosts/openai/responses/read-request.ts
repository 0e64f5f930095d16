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
} from "../text/check.ts";
import { invalid } from "../text/errors.ts";
import { requireObjectSchema } from "../text/read-request.ts";
import { checkStrictSchema } from "../text/strict-schema.ts";
import { readInput, requireThoughtsBack } from "./read-input.ts";

/** Every field of a request that the host knows. */
const FIELDS: ReadonlySet<string> = new Set(
  `model input instructions stream stream_options max_output_tokens max_tool_calls temperature top_p top_logprobs tools
  tool_choice parallel_tool_calls text reasoning include store previous_response_id conversation background truncation
  context_management prompt metadata service_tier prompt_cache_key prompt_cache_retention prompt_cache_options
  safety_identifier user moderation client_metadata`.split(/\s+/),
);

const INCLUDES = [
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
  "web_search_call.action.sources",
  "web_search_call.results",
  "file_search_call.results",
  "code_interpreter_call.outputs",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
];
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const SEARCH = /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/;
/** Tools of the host's own that the simulator knows, and never uses. */
const IDLE = [
  "file_search",
  "code_interpreter",
  "image_generation",
  "mcp",
  "tool_search",
  "shell",
  "apply_patch",
  "programmatic_tool_calling",
];
const MIN_OUTPUT = 16;

export interface ResponsesRequest {
  prompt: Prompt;
  stream: boolean;
  obfuscate: boolean;
  summary: boolean;
  sealed: boolean;
  sources: boolean;
  topLogprobs: number | undefined;
  /** The namespace of each tool that has one. */
  namespaces: ReadonlyMap<string, string>;
  /** What the answer repeats of the request. */
  echo: JsonObject;
}

/** Validates as the host does, and puts the request into the simulator's words. */
export function readRequest(body: JsonObject, model: SimulatedModel): ResponsesRequest {
  refuse(body, model);
  const { system, turns } = readInput(body.input);
  const instructions = typeof body.instructions === "string" ? [{ text: body.instructions }] : [];
  const include = readInclude(body.include);
  const { tools, namespaces, search } = readTools(body);
  const maxTokens = optionalNumber(body, "max_output_tokens", [MIN_OUTPUT, Number.MAX_SAFE_INTEGER], true);
  const { thinking, summary } = readThinking(body, model);
  if (model.traits.thinks === "strict" && thinking !== "off") {
    requireThoughtsBack(body.input, { ofKnownCalls: model.traits.answer === "agent" });
  }
  const format = readFormat(body);
  const options = isObject(body.stream_options) ? body.stream_options : {};
  const logprobs = include.has("message.output_text.logprobs");
  const top = optionalNumber(body, "top_logprobs", [0, 20], true);
  return {
    prompt: {
      system: [...instructions, ...system],
      turns: mergeTurns(turns),
      tools,
      choice: readChoice(body.tool_choice, tools),
      parallel: optionalBoolean(body, "parallel_tool_calls") ?? true,
      format,
      ...(maxTokens === undefined ? {} : { maxTokens }),
      stop: [],
      thinking,
      search,
      storedTokens: 0,
    },
    stream: optionalBoolean(body, "stream") ?? false,
    obfuscate: options.include_obfuscation !== false,
    summary,
    sealed: include.has("reasoning.encrypted_content"),
    sources: include.has("web_search_call.action.sources"),
    topLogprobs: logprobs ? (top ?? 0) : undefined,
    namespaces,
    echo: echoOf(body),
  };
}

function refuse(body: JsonObject, model: SimulatedModel): void {
  for (const name of Object.keys(body)) {
    if (!FIELDS.has(name)) throw invalid(`Unknown parameter: '${name}'.`, name, "unknown_parameter");
  }
  optionalNumber(body, "temperature", [0, 2]);
  optionalNumber(body, "top_p", [0, 1]);
  if (typeof body.previous_response_id === "string") {
    const id = body.previous_response_id;
    throw invalid(
      `Previous response with id '${id}' not found.`,
      "previous_response_id",
      "previous_response_not_found",
    );
  }
  if (body.stream_options !== undefined && body.stream !== true) {
    throw invalid("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options", null);
  }
  if (model.traits.thinks !== "unseen") return;
  for (const name of ["temperature", "top_p", "top_logprobs"]) {
    if (body[name] === undefined || body[name] === null) continue;
    throw invalid(`Unsupported parameter: '${name}' is not supported with this model.`, name, "unsupported_parameter");
  }
}

function readInclude(value: Json | undefined): ReadonlySet<Json> {
  const listed = value === undefined || value === null ? [] : requireArray(value, "include");
  for (const [at, one] of listed.entries()) {
    if (typeof one !== "string" || !INCLUDES.includes(one)) throw badValue(one, INCLUDES, `include[${at}]`);
  }
  return new Set(listed);
}

interface ReadTools {
  tools: Tool[];
  namespaces: Map<string, string>;
  search: boolean;
}

/** The tools of the request, and those that its items add. */
function readTools({ tools, input }: JsonObject): ReadTools {
  const read: ReadTools = { tools: [], namespaces: new Map(), search: false };
  readList(tools, "tools", read);
  for (const [at, item] of (Array.isArray(input) ? input : []).entries()) {
    if (isObject(item) && item.type === "additional_tools") readList(item.tools, `input[${at}].tools`, read);
  }
  return read;
}

function readList(value: Json | undefined, param: string, read: ReadTools): void {
  const listed = value === undefined || value === null ? [] : requireArray(value, param);
  for (const [at, one] of listed.entries()) readTool(requireObject(one, `${param}[${at}]`), `${param}[${at}]`, read);
}

function readTool(tool: JsonObject, param: string, read: ReadTools): void {
  const type = requireString(tool.type, `${param}.type`);
  if (SEARCH.test(type)) read.search = true;
  else if (type === "namespace") {
    const namespace = requireString(tool.name, `${param}.name`);
    for (const [at, one] of requireArray(tool.tools, `${param}.tools`).entries()) {
      const inner = requireObject(one, `${param}.tools[${at}]`);
      readTool(inner, `${param}.tools[${at}]`, read);
      read.namespaces.set(requireString(inner.name, `${param}.tools[${at}].name`), namespace);
    }
  } else if (type === "function" || type === "custom") read.tools.push(readFunction(tool, type, param));
  else if (!IDLE.includes(type)) throw badValue(type, ["function", "custom", "web_search", ...IDLE], `${param}.type`);
}

function readFunction(tool: JsonObject, type: string, param: string): Tool {
  const name = requireString(tool.name, `${param}.name`);
  if (!TOOL_NAME.test(name)) {
    throw invalid(
      `Invalid '${param}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      `${param}.name`,
      "invalid_value",
    );
  }
  const schema =
    type === "custom" || tool.parameters === undefined || tool.parameters === null
      ? undefined
      : requireObject(tool.parameters, `${param}.parameters`);
  if (schema !== undefined) requireObjectSchema(schema, name, `${param}.parameters`);
  if (tool.strict === true && schema !== undefined) {
    checkStrictSchema(schema, `function '${name}'`, `${param}.parameters`, "invalid_function_parameters");
  }
  const description = typeof tool.description === "string" ? tool.description : "";
  return { name, description, schema, freeform: type === "custom" };
}

function readChoice(value: Json | undefined, tools: readonly Tool[]): Prompt["choice"] {
  if (value === undefined || value === null || value === "auto") return { mode: "auto" };
  if (value === "none" || value === "required") return { mode: value };
  if (!isObject(value)) throw badValue(value, ["none", "auto", "required"], "tool_choice");
  if (value.type === "allowed_tools") {
    const names = requireArray(value.tools, "tool_choice.tools").map((one, at) =>
      requireString(requireObject(one, `tool_choice.tools[${at}]`).name, `tool_choice.tools[${at}].name`),
    );
    return { mode: value.mode === "required" ? "required" : "auto", names };
  }
  if (value.type !== "function" && value.type !== "custom") return { mode: "auto" };
  const name = requireString(value.name, "tool_choice.name");
  if (!tools.some((tool) => tool.name === name)) {
    throw invalid(`Tool choice '${name}' not found in 'tools' parameter.`, "tool_choice", null);
  }
  return { mode: "required", names: [name] };
}

function readThinking(body: JsonObject, model: SimulatedModel): { thinking: Thinking; summary: boolean } {
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  const effort = optionalEnum(reasoning, "effort", EFFORTS);
  const summary = typeof reasoning.summary === "string";
  const { thinks } = model.traits;
  const asked = thinks === "unseen" ? effort !== "none" : effort === undefined ? summary : effort !== "none";
  if (thinks === undefined || !asked) return { thinking: "off", summary };
  return { thinking: summary ? "shown" : "omitted", summary };
}

function readFormat(body: JsonObject): OutputFormat {
  const format = isObject(body.text) && isObject(body.text.format) ? body.text.format : { type: "text" };
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") {
    if (!/json/i.test(JSON.stringify(body.input))) {
      throw invalid(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        "input",
        null,
      );
    }
    return { type: "json" };
  }
  if (format.type !== "json_schema") {
    throw badValue(format.type ?? "", ["text", "json_object", "json_schema"], "text.format.type");
  }
  const name = requireString(format.name, "text.format.name");
  const schema = requireObject(format.schema, "text.format.schema");
  if (format.strict === true) checkStrictSchema(schema, `response_format '${name}'`, "text.format.schema", null);
  return { type: "schema", schema };
}

/** Tools that do not say whether they are strict are. */
function echoOf(body: JsonObject): JsonObject {
  const tools = (Array.isArray(body.tools) ? body.tools : []).map((tool) =>
    isObject(tool) && tool.type === "function" ? { strict: true, ...tool } : tool,
  );
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  return {
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: "default",
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: { type: "text" }, ...(isObject(body.text) ? body.text : {}) },
    tool_choice: body.tool_choice ?? "auto",
    tools,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    user: body.user ?? null,
  };
}
