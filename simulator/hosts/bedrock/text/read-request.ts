import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import type { OutputFormat, Prompt, Thinking, Tool } from "../../../text/prompt.ts";
import { promptUnits } from "../../../text/prompt-units.ts";
import {
  memberOf,
  optionalNumber,
  requireArray,
  requireKnown,
  requireObject,
  requireOneOf,
  requireString,
} from "./check.ts";
import { invalid } from "./errors.ts";
import { MessageReader, readCachePoint, readText, TOOL_NAME } from "./read-messages.ts";

const FIELDS = `system messages inferenceConfig toolConfig guardrailConfig additionalModelRequestFields
  additionalModelResponseFieldPaths performanceConfig serviceTier requestMetadata promptVariables`.split(/\s+/);
const MAX_CACHE_POINTS = 4;
const MIN_BUDGET = 1_024;

function readSystem(value: Json | undefined, isClaude: boolean): Prompt["system"] {
  const system: Prompt["system"] = [];
  for (const [at, block] of (value === undefined ? [] : requireArray(value, "system")).entries()) {
    const { kind, member } = memberOf(block, `system.${at}`);
    if (kind === "text") system.push({ text: readText(member, `system.${at}`) });
    else if (kind === "cachePoint") {
      const last = system.at(-1);
      if (last === undefined) throw invalid("A cachePoint in system has nothing before it.");
      last.cache = readCachePoint(member, `system.${at}`, isClaude);
    } else throw invalid(`The ${kind} field at system.${at} is not played by the simulator.`);
  }
  return system;
}

function readTools(config: JsonObject, isClaude: boolean): Tool[] {
  const tools: Tool[] = [];
  for (const [at, item] of requireArray(config.tools, "toolConfig.tools").entries()) {
    const path = `toolConfig.tools.${at}`;
    const { kind, member } = memberOf(item, path);
    if (kind === "cachePoint") {
      const last = tools.at(-1);
      if (last === undefined) throw invalid("A cachePoint in toolConfig has nothing before it.");
      last.cache = readCachePoint(member, path, isClaude);
      continue;
    }
    if (kind !== "toolSpec") throw invalid(`${path}: the simulator knows no ${kind}.`);
    const spec = requireObject(member, `${path}.toolSpec`);
    requireKnown(spec, ["name", "description", "inputSchema", "strict"]);
    const name = requireString(spec.name, `${path}.toolSpec.name`, TOOL_NAME);
    const description =
      spec.description === undefined ? "" : requireString(spec.description, `${path}.toolSpec.description`);
    const schema = requireObject(
      requireObject(spec.inputSchema, `${path}.toolSpec.inputSchema`).json,
      `${path}.toolSpec.inputSchema.json`,
    );
    if (schema.type !== "object") {
      throw invalid(`The value at ${path}.toolSpec.inputSchema.json.type must be one of the following: object.`);
    }
    if (tools.some((tool) => tool.name === name))
      throw invalid(`The tool ${name} is already defined at ${path}.toolSpec.`);
    tools.push({ name, description, schema, freeform: false });
  }
  if (tools.length === 0) throw invalid("toolConfig.tools must have at least one tool.");
  return tools;
}

function readChoice(value: Json | undefined, tools: readonly Tool[]): Prompt["choice"] {
  if (value === undefined) return { mode: "auto" };
  const { kind, member } = memberOf(value, "toolConfig.toolChoice");
  if (kind === "auto") return { mode: "auto" };
  if (kind === "any") return { mode: "required" };
  if (kind !== "tool") throw invalid(`toolConfig.toolChoice has no member ${kind}.`);
  const name = requireString(
    requireObject(member, "toolConfig.toolChoice.tool").name,
    "toolConfig.toolChoice.tool.name",
  );
  if (!tools.some((tool) => tool.name === name))
    throw invalid(`toolChoice names ${name}, which is not in toolConfig.tools.`);
  return { mode: "required", names: [name] };
}

interface ModelFields {
  thinking: Thinking;
  format: OutputFormat;
}

/** Fields that go to the model unread by the host: each family refuses those of the others. */
function readModelFields(fields: JsonObject, model: SimulatedModel, isClaude: boolean, maxTokens: number): ModelFields {
  requireKnown(fields, isClaude ? ["thinking", "output_config", "top_k", "anthropic_beta"] : ["reasoning_effort"]);
  const thinks = model.traits.thinks !== undefined;
  if (!isClaude) {
    if (fields.reasoning_effort !== undefined)
      requireOneOf(fields.reasoning_effort, ["low", "medium", "high"], "reasoning_effort");
    return { thinking: thinks && fields.reasoning_effort !== undefined ? "shown" : "off", format: { type: "text" } };
  }
  return { thinking: readThinking(fields, thinks, maxTokens), format: readFormat(fields) };
}

function readThinking(fields: JsonObject, thinks: boolean, maxTokens: number): Thinking {
  if (fields.thinking === undefined) return "off";
  const thinking = requireObject(fields.thinking, "thinking");
  const type = requireOneOf(thinking.type, ["enabled", "disabled", "adaptive"], "thinking.type");
  if (type === "disabled") return "off";
  if (type === "enabled") {
    const budget = optionalNumber(
      thinking.budget_tokens,
      [MIN_BUDGET, Number.MAX_SAFE_INTEGER],
      "thinking.budget_tokens",
    );
    if (budget === undefined) throw invalid("thinking.enabled.budget_tokens: Field required");
    if (budget >= maxTokens) throw invalid("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if (!thinks) return "off";
  return thinking.display === "omitted" ? "omitted" : "shown";
}

function readFormat(fields: JsonObject): OutputFormat {
  const config = fields.output_config === undefined ? {} : requireObject(fields.output_config, "output_config");
  requireKnown(config, ["effort", "format"]);
  if (config.effort !== undefined)
    requireOneOf(config.effort, ["low", "medium", "high", "xhigh", "max"], "output_config.effort");
  if (config.format === undefined) return { type: "text" };
  const format = requireObject(config.format, "output_config.format");
  requireOneOf(format.type, ["json_schema"], "output_config.format.type");
  return { type: "schema", schema: requireObject(format.schema, "output_config.format.schema") };
}

function checkSampling(config: JsonObject, fields: JsonObject, model: SimulatedModel, thinks: boolean): void {
  const temperature = optionalNumber(config.temperature, [0, 1], "inferenceConfig.temperature");
  optionalNumber(config.topP, [0, 1], "inferenceConfig.topP");
  const samples = temperature !== undefined || config.topP !== undefined || fields.top_k !== undefined;
  if (model.traits.thinks === "unseen" && samples)
    throw invalid("Sampling parameters are not supported on this model.");
  if (!thinks) return;
  if (temperature !== undefined && temperature !== 1)
    throw invalid("`temperature` may only be set to 1 when thinking is enabled.");
  if (fields.top_k !== undefined) throw invalid("`top_k` must be unset when thinking is enabled.");
}

function requireThinkingFirst(value: Json | undefined): void {
  const messages = Array.isArray(value) ? value : [];
  const blocksOf = (message: Json | undefined) =>
    isObject(message) && Array.isArray(message.content) ? message.content : [];
  const asked = messages.findLastIndex(
    (message) =>
      isObject(message) &&
      message.role === "user" &&
      !blocksOf(message).some((block) => isObject(block) && "toolResult" in block),
  );
  // One of the turn's messages has the thoughts: a model that does not think between its calls has thought before the first.
  const answers = messages.slice(asked + 1).filter((one) => isObject(one) && one.role === "assistant");
  const thought = answers.some((one) => {
    const [first] = blocksOf(one);
    return isObject(first) && "reasoningContent" in first;
  });
  const blocks = answers.flatMap(blocksOf);
  const calls = blocks.some((block) => isObject(block) && "toolUse" in block);
  if (calls && !thought) {
    throw invalid(
      "Expected `thinking` or `redacted_thinking`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    );
  }
}

interface ReadConverse {
  prompt: Prompt;
  /** JSON pointers to what the caller wants to see of the model's own answer. */
  wanted: string[];
}

/** Validates as the host does, and puts the request into the simulator's words. */
export function readConverse(body: JsonObject, model: SimulatedModel, isClaude: boolean): ReadConverse {
  requireKnown(body, FIELDS);
  const config = body.inferenceConfig === undefined ? {} : requireObject(body.inferenceConfig, "inferenceConfig");
  requireKnown(config, ["maxTokens", "temperature", "topP", "stopSequences"]);
  const { maxOutputTokens } = model.facts;
  const maxTokens = optionalNumber(config.maxTokens, [1, maxOutputTokens], "inferenceConfig.maxTokens");
  const fields =
    body.additionalModelRequestFields === undefined
      ? {}
      : requireObject(body.additionalModelRequestFields, "additionalModelRequestFields");
  const { thinking, format } = readModelFields(fields, model, isClaude, maxTokens ?? maxOutputTokens);
  const asked = isClaude && thinking !== "off";
  checkSampling(config, fields, model, asked);

  const reader = new MessageReader(isClaude);
  const turns = reader.read(body.messages);
  if (reader.usesTools && body.toolConfig === undefined) {
    throw invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks.");
  }
  const toolConfig = body.toolConfig === undefined ? undefined : requireObject(body.toolConfig, "toolConfig");
  const tools = toolConfig === undefined ? [] : readTools(toolConfig, isClaude);
  const choice = readChoice(toolConfig?.toolChoice, tools);
  if (asked && choice.mode === "required")
    throw invalid("Thinking may not be enabled when tool_choice forces tool use.");
  if (isClaude && model.traits.thinks === "unseen" && turns.at(-1)?.role === "assistant")
    throw invalid(
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
  if (asked && turns.at(-1)?.role === "assistant") throw invalid("A prefilled answer is not supported with thinking.");
  if (asked && model.traits.thinks === "strict") requireThinkingFirst(body.messages);
  const prompt: Prompt = {
    system: readSystem(body.system, isClaude),
    turns,
    tools,
    choice,
    parallel: true,
    format,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    stop: readStops(config.stopSequences, isClaude),
    thinking,
    search: false,
    storedTokens: 0,
  };
  const ages = promptUnits(prompt).flatMap((unit) => unit.cache ?? []);
  const shorter = ages.indexOf("5m");
  if (shorter >= 0 && ages.indexOf("1h", shorter) > 0)
    throw invalid("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.");
  if (ages.length > MAX_CACHE_POINTS) {
    throw invalid(`A maximum of ${MAX_CACHE_POINTS} cache points may be provided.`);
  }
  return { prompt, wanted: readPaths(body.additionalModelResponseFieldPaths) };
}

function readStops(value: Json | undefined, isClaude: boolean): string[] {
  return (value === undefined ? [] : requireArray(value, "inferenceConfig.stopSequences")).map((item, at) => {
    const sequence = requireString(item, `inferenceConfig.stopSequences.${at}`);
    if (isClaude && sequence.trim() === "")
      throw invalid("stop_sequences: each stop sequence must contain non-whitespace");
    return sequence;
  });
}

function readPaths(value: Json | undefined): string[] {
  return (value === undefined ? [] : requireArray(value, "additionalModelResponseFieldPaths")).map((item, at) =>
    requireString(item, `additionalModelResponseFieldPaths.${at}`, /^\/./),
  );
}
