import { GatewayError } from "../../../canon/error.ts";
import { type CheckRules, refuse } from "../../reading/check.ts";
import { checkBase64, checkDataUrl } from "../../reading/check-base64.ts";
import { describeValue } from "../../reading/describe-value.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import type { ChatMessage } from "./content.ts";
import type { ChatRequest } from "./request.ts";

/** Fields that the contract does not accept (contract 2.12), with their replacement if there is one. */
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
  alsoRead: [...Object.keys(NOT_ACCEPTED), ...ROUTING_FIELDS],
  gate(body, { door, publicUrl = () => "" }) {
    if (door === "contract") refuseWhatIsNotAccepted(body, publicUrl);
  },
  relations(body, { door }) {
    if (typeof body.top_logprobs === "number" && body.logprobs !== true) {
      refuse("top_logprobs", "requires logprobs to be true");
    }
    for (let index = 0; index < body.messages.length; index++) {
      const message = body.messages[index];
      if ((message?.role === "user" || message?.role === "tool") && typeof message.content !== "string") {
        checkData(message.content, () => `messages[${index}].content`);
      }
      // Providers return such messages if the output limit ends an answer before its first token, and clients send them back. At the
      // drop-in door the provider decides.
      if (door === "contract" && message?.role === "assistant" && !saysSomething(message)) {
        refuse(
          `messages[${index}].content`,
          `must be a string or an array because the message has no tool_calls, function_call or reasoning; it is ${describeValue(message.content)}`,
        );
      }
    }
  },
};

/** Suggests the other door, because a base URL can be changed even if the client cannot. */
function refuseWhatIsNotAccepted(body: Readonly<Record<string, unknown>>, publicUrl: () => string): void {
  for (const field in NOT_ACCEPTED) {
    if (body[field] === undefined || body[field] === null) continue;
    const replacement = NOT_ACCEPTED[field];
    const instead = replacement === undefined ? "Use" : `Use ${replacement}, or`;
    const message = `\`${field}\` is not supported on /api/v1. ${instead} the base URL ${publicUrl()}/v1, which accepts it.`;
    throw new GatewayError("unsupported_parameter", message, { path: field });
  }
}

/** A refusal, audio or reasoning can replace content, as in answers that clients send back. */
function saysSomething(message: ChatMessage & { role: "assistant" }): boolean {
  return (
    (message.content !== undefined && message.content !== null) ||
    (message.tool_calls !== undefined && message.tool_calls !== null && message.tool_calls.length > 0) ||
    (message.function_call !== undefined && message.function_call !== null) ||
    (message.refusal !== undefined && message.refusal !== null) ||
    (message.audio !== undefined && message.audio !== null) ||
    Boolean(message.reasoning || message.reasoning_content) ||
    (message.reasoning_details !== undefined &&
      message.reasoning_details !== null &&
      message.reasoning_details.length > 0)
  );
}

/** `path` is a function, because there are many parts and only refusals need it. */
function checkData(parts: readonly { type: string }[], path: () => string): void {
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as DataPart;
    const at = (field: string) => () => `${path()}[${index}].${field}`;
    // As at providers, the type selects the member. Clients send the others as null.
    if (part.type === "image_url") checkDataUrl(part.image_url.url, at("image_url.url"));
    else if (part.type === "input_audio") checkBase64(part.input_audio.data, at("input_audio.data"));
    else if (part.type === "file" && typeof part.file.file_data === "string") {
      const check = part.file.file_data.startsWith("data:") ? checkDataUrl : checkBase64;
      check(part.file.file_data, at("file.file_data"));
    }
  }
}

/** The parts whose data is checked. The schema has validated them. */
type DataPart = Extract<
  Exclude<Extract<ChatMessage, { role: "user" }>["content"], string>[number],
  { type: "image_url" | "input_audio" | "file" }
>;
