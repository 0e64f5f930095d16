import { GatewayError } from "../../canon/error.ts";
import { type CheckRules, refuse } from "../check.ts";
import { describeValue } from "../describe-value.ts";
import type { ChatRequest } from "./schema.ts";
import type { ChatMessage } from "./schema-content.ts";

/** What the contract does not accept (2.12), each with the way to say it instead, where there is one. */
const NOT_ACCEPTED: Readonly<Record<string, string | undefined>> = {
  max_tokens: "max_completion_tokens",
  functions: "tools",
  function_call: "tool_choice",
  audio: undefined,
  modalities: undefined,
  prompt_cache_key: undefined,
  prompt_cache_retention: undefined,
  safety_identifier: undefined,
  store: undefined,
  service_tier: undefined,
  prediction: undefined,
  seed: undefined,
  user: undefined,
};

export const chatRules: CheckRules<ChatRequest> = {
  gate(body, { door }) {
    if (door === "contract") refuseWhatIsNotAccepted(body);
  },
  relations(body) {
    if (typeof body.top_logprobs === "number" && body.logprobs !== true) {
      refuse("top_logprobs", "needs logprobs to be true");
    }
    for (let index = 0; index < body.messages.length; index++) {
      const message = body.messages[index];
      if (message?.role === "assistant" && !saysSomething(message)) {
        refuse(
          `messages[${index}].content`,
          `must be a string or an array, because the message has no tool_calls and no function_call; it is ${describeValue(message.content)}`,
        );
      }
    }
  },
};

function refuseWhatIsNotAccepted(body: Readonly<Record<string, unknown>>): void {
  for (const field in NOT_ACCEPTED) {
    if (body[field] === undefined || body[field] === null) continue;
    const replacement = NOT_ACCEPTED[field];
    const advice = replacement === undefined ? "leave it out; nothing replaces it" : `use ${replacement} instead`;
    throw new GatewayError("unsupported_parameter", `${field} is not accepted here: ${advice}.`, { path: field });
  }
}

/** A refusal or a spoken answer stands in for content, as the answers that clients echo back have it. */
function saysSomething(message: ChatMessage & { role: "assistant" }): boolean {
  return (
    (message.content !== undefined && message.content !== null) ||
    (message.tool_calls !== undefined && message.tool_calls !== null && message.tool_calls.length > 0) ||
    (message.function_call !== undefined && message.function_call !== null) ||
    (message.refusal !== undefined && message.refusal !== null) ||
    (message.audio !== undefined && message.audio !== null)
  );
}
