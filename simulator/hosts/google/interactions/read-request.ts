import { isObject, type Json, type JsonObject, textOr } from "../../../json.ts";
import { names } from "../../../names.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import { mergeTurns, type OutputFormat, type Prompt, type Thinking, type Tool } from "../../../text/prompt.ts";
import { googleError, invalid, invalidValue } from "../text/errors.ts";
import { refuseUnknown } from "../text/proto-json.ts";
import { readInput, requireSignatures } from "./read-steps.ts";

const REQUEST = names(
  `model input system_instruction tools generation_config response_format response_mime_type response_modalities safety_settings
  service_tier cached_content labels stream store background previous_interaction_id continuation_token environment webhook_config`,
);
/** Unlike the older API, it has neither top_k nor penalties. */
const GENERATION = names(
  `temperature top_p seed stop_sequences max_output_tokens thinking_level thinking_summaries tool_choice image_config speech_config
  transcription_config video_config`,
);
const FUNCTION = names("type name description parameters");
const TOOLS = names(
  "function google_search code_execution url_context google_maps file_search computer_use mcp_server retrieval",
);
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;
const LEVELS = names("minimal low medium high");
const STORED_TOKENS = 1_024;

export interface InteractionRequest {
  prompt: Prompt;
  stream: boolean;
  showThoughts: boolean;
}

function number(holder: JsonObject, name: string, range: [number, number]): number | undefined {
  const value = holder[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw invalidValue(`generation_config.${name}`, "TYPE_FLOAT", value);
  if (value < range[0] || value > range[1])
    throw invalid(`${name} has ${value}, but the supported range is from ${range[0]} to ${range[1]}.`);
  return value;
}

function readTools(value: Json | undefined): { tools: Tool[]; search: boolean } {
  const tools: Tool[] = [];
  let search = false;
  for (const [at, tool] of (Array.isArray(value) ? value : []).entries()) {
    const path = `tools[${at}]`;
    if (!isObject(tool) || !TOOLS.has(textOr(tool.type, ""))) throw invalidValue(`${path}.type`, "Tool", tool);
    if (tool.type === "google_search") search = true;
    if (tool.type !== "function") continue;
    refuseUnknown(tool, FUNCTION, path);
    const name = textOr(tool.name, "");
    if (!FUNCTION_NAME.test(name)) throw invalid(`* CreateInteraction.${path}.name: Invalid function name.\n`);
    const schema = isObject(tool.parameters) ? tool.parameters : undefined;
    tools.push({ name, description: textOr(tool.description, ""), schema, freeform: false });
  }
  return { tools, search };
}

function readChoice(value: Json | undefined, tools: readonly Tool[]): Prompt["choice"] {
  const allowed = isObject(value) && isObject(value.allowed_tools) ? value.allowed_tools : undefined;
  const mode = textOr(allowed === undefined ? value : allowed.mode, "auto");
  if (!["auto", "any", "none", "validated"].includes(mode))
    throw invalidValue("generation_config.tool_choice", "ToolChoiceType", mode);
  const listed = allowed !== undefined && Array.isArray(allowed.tools) ? allowed.tools.map(String) : [];
  const unknown = listed.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined) throw invalid(`allowed_tools holds \`${unknown}\`, which is not a declared function.`);
  if (mode === "any" && tools.length === 0) throw invalid("tool_choice is set without functions.");
  const unified = mode === "any" ? "required" : mode === "none" ? "none" : "auto";
  return { mode: unified, ...(listed.length === 0 ? {} : { names: listed }) };
}

function readFormat(value: Json | undefined): OutputFormat {
  const [format] = Array.isArray(value) ? value : [value];
  if (!isObject(format)) return { type: "text" };
  if (format.type !== "text") throw invalid("This model does not support the requested response format.");
  if (isObject(format.schema)) return { type: "schema", schema: format.schema };
  return format.mime_type === "application/json" ? { type: "json" } : { type: "text" };
}

function readThinking(generation: JsonObject, model: SimulatedModel): Thinking {
  const { thinking_level: level, thinking_summaries: summaries } = generation;
  if (level !== undefined && !LEVELS.has(textOr(level, "")))
    throw invalidValue("generation_config.thinking_level", "ThinkingLevel", level);
  if (model.traits.thinks === undefined) {
    if (level !== undefined || summaries === "auto")
      throw invalid("Unable to submit request because thinking is not supported by this model.");
    return "off";
  }
  return summaries === "auto" ? "shown" : "hidden";
}

/** Validates as the host does, and puts the request into the simulator's words. */
export function readRequest(body: JsonObject, model: SimulatedModel): InteractionRequest {
  refuseUnknown(body, REQUEST, "");
  if (typeof body.previous_interaction_id === "string")
    throw googleError(404, "NOT_FOUND", "The simulator stores no interactions.");
  if (body.background === true) throw invalid("The simulator has no background interactions.");
  const generation = isObject(body.generation_config) ? body.generation_config : {};
  refuseUnknown(generation, GENERATION, "generation_config");
  number(generation, "temperature", [0, 2]);
  number(generation, "top_p", [0, 1]);
  const turns = readInput(body.input);
  if (model.traits.thinks === "strict") requireSignatures(body.input);
  const { tools, search } = readTools(body.tools);
  const maxTokens = number(generation, "max_output_tokens", [1, Number.MAX_SAFE_INTEGER]);
  const thinking = readThinking(generation, model);
  const system = textOr(body.system_instruction, "");
  const { stop_sequences: stop } = generation;
  return {
    prompt: {
      system: system === "" ? [] : [{ text: system }],
      turns: mergeTurns(turns),
      tools,
      choice: readChoice(generation.tool_choice, tools),
      parallel: true,
      format: readFormat(body.response_format),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      stop: Array.isArray(stop) ? stop.map(String) : [],
      thinking,
      search,
      storedTokens: typeof body.cached_content === "string" ? STORED_TOKENS : 0,
    },
    stream: body.stream === true,
    showThoughts: thinking === "shown",
  };
}
