import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import type { OutputFormat, Prompt, Thinking } from "../../../text/prompt.ts";
import { promptUnits } from "../../../text/prompt-units.ts";
import { optionalNumber, requireArray, requireObject, requireOneOf, requireString } from "./check.ts";
import { invalid, threadsUnsupported } from "./errors.ts";
import { readCache } from "./read-blocks.ts";
import { readMessages, requireThinkingFirst } from "./read-messages.ts";
import { readChoice, readTools } from "./read-tools.ts";

const FIELDS = new Set(
  `model max_tokens messages system temperature top_p top_k stop_sequences stream thinking tools tool_choice metadata
  service_tier output_config cache_control container inference_geo`.split(/\s+/),
);

/** Fields that the host knows only when the beta of that name is asked for. */
const BETA_FIELDS: ReadonlyMap<string, string> = new Map([
  ["context_management", "context-management-2025-06-27"],
  ["mcp_servers", "mcp-client-"],
  ["output_format", "structured-outputs-"],
]);

const MAX_CACHE_MARKS = 4;
const MIN_BUDGET = 1_024;

function refuseUnknown(body: JsonObject, betas: string): void {
  for (const name of Object.keys(body)) {
    const beta = BETA_FIELDS.get(name);
    if (FIELDS.has(name) || (beta !== undefined && betas.includes(beta))) continue;
    if (name === "thread") throw threadsUnsupported();
    throw invalid(name, "Extra inputs are not permitted");
  }
}

function readSystem(value: Json | undefined): Prompt["system"] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [{ text: value }];
  return requireArray(value, "system").map((item, at) => {
    const block = requireObject(item, `system.${at}`);
    requireOneOf(block.type, ["text"], `system.${at}.type`);
    const text = requireString(block.text, `system.${at}.text`);
    if (text === "") throw invalid("system", "text content blocks must be non-empty");
    return { text, ...readCache(block, `system.${at}`) };
  });
}

function readThinking(body: JsonObject, model: SimulatedModel, maxTokens: number): Thinking {
  const value = body.thinking;
  if (value === undefined || value === null) return "off";
  const thinking = requireObject(value, "thinking");
  const type = requireOneOf(thinking.type, ["enabled", "disabled", "adaptive", "between_tools"], "thinking.type");
  if (type === "disabled") return "off";
  if (type === "enabled") {
    const budget = optionalNumber(thinking, "budget_tokens", [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER], true);
    if (budget === undefined) throw invalid("thinking.enabled.budget_tokens", "Field required");
    if (budget < MIN_BUDGET) {
      throw invalid("thinking.enabled.budget_tokens", `Input should be greater than or equal to ${MIN_BUDGET}`);
    }
    if (budget >= maxTokens) throw invalid("", "`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if (model.traits.thinks === undefined) return "off";
  return thinking.display === "omitted" ? "omitted" : "shown";
}

/** What the newest version no longer takes. */
function checkVersion(body: JsonObject): void {
  for (const name of ["temperature", "top_p", "top_k"]) {
    if (body[name] !== undefined) throw invalid(name, "Extra inputs are not permitted");
  }
  for (const [at, message] of (Array.isArray(body.messages) ? body.messages : []).entries()) {
    const blocks = isObject(message) && Array.isArray(message.content) ? message.content : [];
    for (const block of blocks.filter(isObject)) {
      if (!isObject(message)) continue;
      if (message.role === "assistant" && block.type === "document") {
        throw invalid(`messages.${at}.content`, "`document` blocks are not permitted in assistant messages");
      }
      if (
        message.role === "user" &&
        block.type === "text" &&
        Array.isArray(block.citations) &&
        block.citations.length > 0
      ) {
        throw invalid(`messages.${at}.content`, "`citations` are not permitted in user messages");
      }
    }
  }
}

function checkSampling(body: JsonObject, model: SimulatedModel, thinks: boolean): void {
  const temperature = optionalNumber(body, "temperature", [0, 1]);
  optionalNumber(body, "top_p", [0, 1]);
  optionalNumber(body, "top_k", [0, Number.MAX_SAFE_INTEGER], true);
  if (model.traits.thinks === "unseen") {
    for (const name of ["temperature", "top_p", "top_k"]) {
      if (body[name] !== undefined) throw invalid("", `\`${name}\` is not supported on this model.`);
    }
  }
  if (!thinks) return;
  if (temperature !== undefined && temperature !== 1) {
    throw invalid("", "`temperature` may only be set to 1 when thinking is enabled.");
  }
  if (body.top_k !== undefined) throw invalid("", "`top_k` must be unset when thinking is enabled.");
}

function readFormat(body: JsonObject): OutputFormat {
  const config = body.output_config === undefined ? {} : requireObject(body.output_config, "output_config");
  if (config.effort !== undefined && config.effort !== null) {
    requireOneOf(config.effort, ["low", "medium", "high", "xhigh", "max"], "output_config.effort");
  }
  const value = config.format ?? body.output_format;
  if (value === undefined || value === null) return { type: "text" };
  const format = requireObject(value, "output_config.format");
  requireOneOf(format.type, ["json_schema"], "output_config.format.type");
  return { type: "schema", schema: requireObject(format.schema, "output_config.format.schema") };
}

/** A mark at the top of the request applies to the last block that can carry it. */
function markLastBlock(prompt: Prompt, body: JsonObject): void {
  const mark = readCache(body, "cache_control");
  const last = prompt.turns.at(-1)?.parts.at(-1);
  if (mark.cache !== undefined && last !== undefined && last.cache === undefined) last.cache = mark.cache;
}

function readMaxTokens(body: JsonObject, model: SimulatedModel): number {
  const maxTokens = optionalNumber(body, "max_tokens", [0, Number.MAX_SAFE_INTEGER], true);
  if (maxTokens === undefined) throw invalid("max_tokens", "Field required");
  const limit = model.facts.maxOutputTokens;
  if (maxTokens > limit) {
    throw invalid(
      "max_tokens",
      `${maxTokens} > ${limit}, which is the maximum allowed number of output tokens for ${model.facts.name}`,
    );
  }
  return maxTokens;
}

/** What excludes thinking, and what an answer's beginning must not be. */
function checkThinking({ choice, turns }: Prompt, body: JsonObject, thinks: boolean, newest: boolean): void {
  const last = turns.at(-1);
  const beginning = last?.role === "assistant" ? last.parts.at(-1) : undefined;
  if (beginning?.type === "text" && beginning.text !== beginning.text.trimEnd())
    throw invalid("messages", "final assistant content cannot end with trailing whitespace");
  if (last?.role === "assistant" && newest) {
    const demand = "The conversation must end with a user message.";
    throw invalid("", `This model does not support assistant message prefill. ${demand}`);
  }
  if (!thinks) return;
  if (choice.mode === "required") throw invalid("", "Thinking may not be enabled when tool_choice forces tool use.");
  const adaptive = isObject(body.thinking) && body.thinking.type === "adaptive";
  if (beginning !== undefined && !adaptive)
    throw invalid(
      "messages",
      "When `thinking` is enabled, a final `assistant` message must start with a thinking block",
    );
}

/** Only the prompt, to count its tokens. */
function readConversation(body: JsonObject, headers: Headers): Pick<Prompt, "system" | "turns"> {
  const newest = headers.get("anthropic-version") === "2026-10-21";
  const betas = headers.get("anthropic-beta") ?? "";
  const { turns, system } = readMessages(body.messages, newest || betas.includes("mid-conversation"));
  return { turns, system: [...readSystem(body.system), ...system.map((text) => ({ text }))] };
}

export function readPrompt(body: JsonObject, headers: Headers, model: SimulatedModel, maxTokens: number): Prompt {
  refuseUnknown(body, headers.get("anthropic-beta") ?? "");
  const { tools, search } = readTools(body.tools);
  const thinking = readThinking(body, model, maxTokens);
  const stop = body.stop_sequences;
  const asked = thinking !== "off";
  if (headers.get("anthropic-version") === "2026-10-21") checkVersion(body);
  checkSampling(body, model, asked);
  const prompt: Prompt = {
    ...readConversation(body, headers),
    tools,
    ...readChoice(body.tool_choice, tools, tools.length > 0 || search),
    format: readFormat(body),
    maxTokens,
    stop:
      stop === undefined || stop === null
        ? []
        : requireArray(stop, "stop_sequences").map((one, at) => {
            const sequence = requireString(one, `stop_sequences.${at}`);
            if (sequence.trim() === "") {
              throw invalid("stop_sequences", "each stop sequence must contain non-whitespace");
            }
            return sequence;
          }),
    thinking,
    search,
    storedTokens: 0,
  };
  if (model.traits.thinks === "strict" && asked) requireThinkingFirst(body.messages);
  checkThinking(prompt, body, asked, model.traits.thinks === "unseen");
  markLastBlock(prompt, body);
  const ages = promptUnits(prompt).flatMap((unit) => unit.cache ?? []);
  const marks = ages.length;
  const shorter = ages.indexOf("5m");
  if (shorter >= 0 && ages.indexOf("1h", shorter) > 0) {
    throw invalid("", "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.");
  }
  if (marks > MAX_CACHE_MARKS) {
    throw invalid("", `A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${marks}.`);
  }
  return prompt;
}

/** Validates as the host does, and puts the request into the simulator's words. */
export function readRequest(
  body: JsonObject,
  headers: Headers,
  model: SimulatedModel,
): { prompt: Prompt; stream: boolean } {
  const maxTokens = readMaxTokens(body, model);
  const { stream } = body;
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    throw invalid("stream", "Input should be a valid boolean");
  }
  if (body.metadata !== undefined && body.metadata !== null && !isObject(body.metadata)) {
    throw invalid("metadata", "Input should be a valid dictionary");
  }
  return { prompt: readPrompt(body, headers, model, maxTokens), stream: stream === true };
}
