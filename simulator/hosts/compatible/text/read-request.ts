import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import { invalid } from "../../openai/text/errors.ts";
import { type ChatRequest, FIELDS, readRequest } from "../../openai/text/read-request.ts";
import type { HostBehaviour } from "./behaviour.ts";
import { checkHistory, historyInOpenaisWords } from "./history.ts";
import { wantsThinking } from "./thinking.ts";

const isSet = (body: JsonObject, name: string): boolean => body[name] !== undefined && body[name] !== null;

function checkFields(body: JsonObject, host: HostBehaviour, thinks: boolean): void {
  const { knows } = host;
  const unknown = knows === undefined ? undefined : Object.keys(body).find((name) => !knows.has(name));
  if (unknown !== undefined) throw invalid(`Unknown parameter: '${unknown}'.`, unknown, "unknown_parameter");
  const refused = [...(host.refuses ?? []), ...(thinks ? (host.thinkersRefuse ?? []) : [])];
  const found = refused.find((name) => isSet(body, name));
  if (found !== undefined) throw invalid(`Argument not supported: ${found}`, found, "unsupported_parameter");
}

function checkValues(body: JsonObject, host: HostBehaviour): void {
  for (const name of host.openUnitInterval ? ["temperature", "top_p"] : []) {
    const value = body[name];
    if (typeof value === "number" && (value <= 0 || value >= 1)) {
      throw invalid(`${name} must lie between 0 and 1, both excluded.`, name, "invalid_value");
    }
  }
  const form = isObject(body.response_format) ? String(body.response_format.type) : "text";
  if (host.formats !== undefined && !host.formats.includes(form)) {
    throw invalid(`This response_format type is unavailable now: ${form}`, "response_format", "invalid_value");
  }
}

/** The host's own spellings of what OpenAI has too. */
function renamed(body: JsonObject): JsonObject {
  const { max_tokens: maxTokens, random_seed: seed, tool_choice: choice, ...others } = body;
  return {
    ...others,
    ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
    ...(seed === undefined ? {} : { seed }),
    ...(choice === undefined ? {} : { tool_choice: choice === "any" ? "required" : choice }),
  };
}

/** Holds a request to the host's rules, and reads the rest of it as OpenAI would. */
export function readHostRequest(
  body: JsonObject,
  model: SimulatedModel,
  host: HostBehaviour,
  strict: boolean,
): ChatRequest {
  const thinks = model.traits.thinks !== undefined;
  checkFields(body, host, thinks);
  checkValues(body, host);
  const thinking = wantsThinking(body, model, host);
  const messages: Json[] = Array.isArray(body.messages) ? body.messages : [];
  checkHistory(messages, host, thinking !== "off", strict);
  const known = Object.entries(renamed(body)).filter(([name]) => FIELDS.has(name) && name !== "reasoning_effort");
  const plain: JsonObject = {
    ...Object.fromEntries(known),
    ...(Array.isArray(body.messages) ? { messages: historyInOpenaisWords(messages) } : {}),
    ...(thinks && thinking !== "off" ? { reasoning_effort: "medium" } : {}),
  };
  const request = readRequest(plain, model);
  return {
    ...request,
    prompt: { ...request.prompt, thinking },
    includeUsage: host.usageUnasked === true || request.includeUsage,
  };
}
