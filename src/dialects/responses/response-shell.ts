import type { JsonObject } from "../../base/json.ts";

interface Shell {
  id: string;
  model: string;
  createdAtSeconds: number;
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  /** Whether the answer is kept. */
  store: boolean;
}

/** An answer without anything in it yet. The protocol repeats the request's settings in every answer. */
export function encodeShell(request: JsonObject, { id, model, createdAtSeconds, status, store }: Shell): JsonObject {
  const or = (key: string, absent: unknown): unknown => request[key] ?? absent;
  return {
    id,
    object: "response",
    created_at: createdAtSeconds,
    status,
    background: or("background", false),
    error: null,
    incomplete_details: null,
    instructions: or("instructions", null),
    max_output_tokens: or("max_output_tokens", null),
    max_tool_calls: or("max_tool_calls", null),
    model,
    output: [],
    parallel_tool_calls: or("parallel_tool_calls", true),
    previous_response_id: or("previous_response_id", null),
    prompt_cache_key: or("prompt_cache_key", null),
    reasoning: { effort: null, summary: null, ...(request["reasoning"] as JsonObject | null | undefined) },
    safety_identifier: or("safety_identifier", null),
    service_tier: or("service_tier", "auto"),
    store,
    temperature: or("temperature", null),
    text: { format: { type: "text" }, ...(request["text"] as JsonObject | null | undefined) },
    tool_choice: or("tool_choice", "auto"),
    tools: or("tools", []),
    top_logprobs: or("top_logprobs", 0),
    top_p: or("top_p", null),
    truncation: or("truncation", "disabled"),
    usage: null,
    user: or("user", null),
    metadata: or("metadata", {}),
  };
}
