import { secretOf } from "./configuration.ts";
import type { CallPlan } from "./scenario.ts";
import { TOOL_NAME } from "./speech.ts";

export const GATEWAY_URL = "http://127.0.0.1:8080";

const PARAMETERS = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
/** The output limit of nearly every request. */
export const MAX_TOKENS = 1000;

/** The request of a call, as a client without an SDK would send it. Its prompt names the call. */
export function requestOf(plan: CallPlan, signal: AbortSignal, previous?: string): Request {
  const { dialect, door, model, stream, tool } = plan;
  const contract = door === "contract";
  const prompt = `call-${plan.id}- Say ${plan.words} words.`;
  const secret = secretOf(plan.key);
  // A host that exceeds its output limit has miscounted: such usage is not billed as reported.
  const limit = Math.max(MAX_TOKENS, plan.output);
  let path: string;
  let body: object;
  const headers: Record<string, string> = {};
  switch (dialect) {
    case "chat":
      path = `${contract ? "/api/v1" : "/v1"}/chat/completions`;
      headers["authorization"] = `Bearer ${secret}`;
      body = {
        model,
        stream,
        max_completion_tokens: limit,
        messages: [{ role: "user", content: prompt }],
        ...(stream ? { stream_options: { include_usage: true } } : {}),
        ...(tool ? { tools: [{ type: "function", function: { name: TOOL_NAME, parameters: PARAMETERS } }] } : {}),
      };
      break;
    case "responses":
      path = `${contract ? "/api/v1" : "/v1"}/responses`;
      headers["authorization"] = `Bearer ${secret}`;
      body = {
        model,
        stream,
        max_output_tokens: limit,
        input: prompt,
        store: plan.store ?? false,
        ...(plan.background ? { background: true } : {}),
        previous_response_id: previous,
        ...(tool ? { tools: [{ type: "function", name: TOOL_NAME, parameters: PARAMETERS }] } : {}),
      };
      break;
    case "messages":
      path = `${contract ? "/api/msg" : ""}/v1/messages`;
      headers["x-api-key"] = secret;
      headers["partner-version"] = "2023-06-01";
      body = {
        model,
        stream,
        max_tokens: limit,
        messages: [{ role: "user", content: prompt }],
        ...(tool ? { tools: [{ name: TOOL_NAME, input_schema: PARAMETERS }] } : {}),
      };
      break;
    case "genai": {
      const [publisher, name] = model.split("/");
      const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      path = `${contract ? "/api/genai" : ""}/v1/publishers/${publisher}/models/${name}:${verb}`;
      headers["authorization"] = `Bearer ${secret}`;
      body = {
        contents: [{ role: "user", parts: [{ text: prompt }] }],
        generationConfig: { maxOutputTokens: limit },
        ...(tool ? { tools: [{ functionDeclarations: [{ name: TOOL_NAME, parameters: PARAMETERS }] }] } : {}),
      };
      break;
    }
  }
  const asked = routingOf(plan);
  // In the body or in headers: both are equivalent.
  const isInBody = plan.id % 2 === 0;
  if (!isInBody) {
    if (asked.provider) headers["x-trivium-routing"] = JSON.stringify({ provider: asked.provider });
    if (asked.trivium?.deadline_ms) headers["x-trivium-deadline-ms"] = String(asked.trivium.deadline_ms);
    if (asked.trivium?.survive) headers["x-trivium-survive"] = "true";
    if (asked.trivium?.hedge) headers["x-trivium-hedge"] = "true";
  }
  const text = JSON.stringify(isInBody ? { ...body, ...asked } : body);
  headers["host"] = "127.0.0.1:8080";
  headers["content-type"] = "application/json";
  headers["content-length"] = String(Buffer.byteLength(text));
  return new Request(GATEWAY_URL + path, { method: "POST", headers, body: text, signal });
}

interface RoutingFields {
  provider?: Record<string, unknown>;
  trivium?: { deadline_ms?: number; survive?: boolean; hedge?: boolean };
}

function routingOf({ routing }: CallPlan): RoutingFields {
  const { type, primaryFactor, providers, fallback, fallbackModel, deadlineMs, survive, hedge } = routing;
  const provider = {
    ...(type && { type }),
    ...(primaryFactor && { primary_factor: primaryFactor }),
    ...(providers?.length && { providers }),
    ...(fallback !== undefined && { fallback }),
    ...(fallbackModel !== undefined && { fallback: fallbackModel }),
  };
  const trivium = {
    ...(deadlineMs && { deadline_ms: deadlineMs }),
    ...(survive && { survive }),
    ...(hedge && { hedge }),
  };
  return {
    ...(Object.keys(provider).length > 0 && { provider }),
    ...(Object.keys(trivium).length > 0 && { trivium }),
  };
}
