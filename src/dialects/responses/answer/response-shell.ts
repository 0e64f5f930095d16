import { arrayAt, isObject, type JsonObject } from "../../../base/json.ts";
import { encodeConversation } from "./repeated-state.ts";

interface Shell {
  id: string;
  model: string;
  createdAtSeconds: number;
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  /** Whether the response is stored. */
  store: boolean;
}

/**
 * A response without content. The protocol repeats the request's settings in every response. The schema that implementations agreed on
 * (Open Responses) requires all of these members. Settings that were not sent have the vendor's defaults.
 */
export function encodeShell(request: JsonObject, { id, model, createdAtSeconds, status, store }: Shell): JsonObject {
  const or = (key: string, absent: unknown): unknown => request[key] ?? absent;
  return {
    id,
    object: "response",
    created_at: createdAtSeconds,
    completed_at: null,
    status,
    background: or("background", false),
    ...encodeConversation(request),
    error: null,
    frequency_penalty: or("frequency_penalty", 0),
    incomplete_details: null,
    instructions: or("instructions", null),
    max_output_tokens: or("max_output_tokens", null),
    max_tool_calls: or("max_tool_calls", null),
    model,
    output: [],
    parallel_tool_calls: or("parallel_tool_calls", true),
    presence_penalty: or("presence_penalty", 0),
    previous_response_id: or("previous_response_id", null),
    prompt_cache_key: or("prompt_cache_key", null),
    reasoning: { effort: null, summary: null, ...(request["reasoning"] as JsonObject | null | undefined) },
    safety_identifier: or("safety_identifier", null),
    service_tier: or("service_tier", "auto"),
    store,
    temperature: or("temperature", 1),
    text: encodeText(request["text"]),
    tool_choice: or("tool_choice", "auto"),
    tools: completeTools(arrayAt(request, "tools")),
    top_logprobs: or("top_logprobs", 0),
    top_p: or("top_p", 1),
    truncation: or("truncation", "disabled"),
    usage: null,
    user: or("user", null),
    metadata: or("metadata", {}),
  };
}

function encodeText(text: unknown): JsonObject {
  const asked = isObject(text) ? text : {};
  const format = isObject(asked["format"]) ? asked["format"] : { type: "text" };
  return {
    ...asked,
    format: format["type"] === "json_schema" ? { description: null, strict: false, ...format } : format,
  };
}

const FUNCTION_MEMBERS = ["description", "parameters", "strict"] as const;

/** Tools as a response repeats them: missing members of a function are null. Returns the same list if nothing is missing. */
function completeTools(tools: readonly unknown[]): readonly unknown[] {
  const isWhole = (tool: unknown): boolean =>
    !isObject(tool) || tool["type"] !== "function" || FUNCTION_MEMBERS.every((member) => member in tool);
  if (tools.every(isWhole)) return tools;
  const absent = Object.fromEntries(FUNCTION_MEMBERS.map((member) => [member, null]));
  return tools.map((tool) => (isWhole(tool) ? tool : { ...absent, ...(tool as JsonObject) }));
}

/** Providers without a value send null for these numbers, which the schema does not allow. */
const NUMBERS: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs",
]);

/** Members that are never made up, because they are the response itself. `user` is the vendor's own. */
const NOT_FILLED: ReadonlySet<string> = new Set(["id", "created_at", "status", "model", "output", "store", "user"]);

const EMPTY = { id: "", model: "", createdAtSeconds: 0, status: "completed", store: false } as const;
const MEMBERS: readonly string[] = Object.keys(encodeShell({}, EMPTY)).filter((key) => !NOT_FILLED.has(key));

/** The required members that a provider's response lacks. */
export function missingMembers(response: JsonObject, request: JsonObject): JsonObject {
  const lacks = (key: string): boolean => response[key] === undefined || (response[key] === null && NUMBERS.has(key));
  const missing = MEMBERS.filter(lacks);
  const tools = arrayAt(response, "tools");
  const whole = completeTools(tools);
  const repeated = whole === tools ? {} : { tools: whole };
  if (missing.length === 0) return repeated;
  const shell = encodeShell(request, EMPTY);
  return { ...Object.fromEntries(missing.map((key) => [key, shell[key]])), ...repeated };
}
