import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { invalid } from "../../openai/text/errors.ts";
import type { HostBehaviour } from "./behaviour.ts";

const THOUGHT_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

function checkThoughts(message: JsonObject, param: string, { history }: HostBehaviour, thinking: boolean): void {
  if (history === "refused") {
    const found = THOUGHT_FIELDS.find((name) => message[name] !== undefined);
    if (found === undefined) return;
    throw invalid(`Unknown parameter: '${param}.${found}'.`, `${param}.${found}`, "unknown_parameter");
  }
  if (history === undefined || !thinking) return;
  const thoughts = message.reasoning_content;
  const calls = Array.isArray(message.tool_calls);
  const missing =
    history === "required" ? typeof thoughts !== "string" : calls && (typeof thoughts !== "string" || thoughts === "");
  if (!missing) return;
  throw invalid(
    `The reasoning_content in the thinking mode must be passed back to the API: it is missing in ${param}.`,
    `${param}.reasoning_content`,
    "invalid_request_error",
  );
}

function checkMedia(message: JsonObject, param: string): void {
  for (const [at, part] of (Array.isArray(message.content) ? message.content : []).entries()) {
    const image = isObject(part) && isObject(part.image_url) ? part.image_url.url : undefined;
    if (typeof image === "string" && !image.startsWith("data:")) {
      throw invalid("invalid image input", `${param}.content[${at}]`, null);
    }
  }
}

function callIdsOf(message: JsonObject): Json[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const ids = calls.map((call) => (isObject(call) ? (call.id ?? null) : null));
  return message.role === "tool" ? [...ids, message.tool_call_id ?? null] : ids;
}

/** The host's rules for the messages so far. */
export function checkHistory(messages: readonly Json[], host: HostBehaviour, thinking: boolean, strict: boolean): void {
  for (const [at, message] of messages.entries()) {
    if (!isObject(message)) continue;
    const param = `messages[${at}]`;
    if (message.role === "assistant") checkThoughts(message, param, host, thinking);
    if (host.noMediaUrls) checkMedia(message, param);
    const pattern = strict ? host.strictCallIds : undefined;
    const wrong = pattern && callIdsOf(message).find((id) => !pattern.test(String(id)));
    if (wrong !== undefined) {
      throw invalid(`Tool call id was ${String(wrong)} but must match ${pattern?.source}.`, param, "invalid_value");
    }
  }
}

function thoughtsOf(message: JsonObject): string | undefined {
  for (const name of ["reasoning_content", "reasoning"]) {
    const value = message[name];
    if (typeof value === "string") return value;
  }
  const lists = [message.reasoning_details, message.content].flatMap((list) => (Array.isArray(list) ? list : []));
  const texts = lists.flatMap((item) => {
    if (!isObject(item)) return [];
    if (item.type === "reasoning.text" && typeof item.text === "string") return [item.text];
    if (item.type !== "thinking" || !Array.isArray(item.thinking)) return [];
    return item.thinking.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : ""));
  });
  return texts.length === 0 ? undefined : texts.join("");
}

/** Thoughts under the one name that the simulator's chat adapter reads, wherever the host keeps them. */
export function historyInOpenaisWords(messages: readonly Json[]): Json[] {
  return messages.map((message) => {
    if (!isObject(message) || message.role !== "assistant") return message;
    const thoughts = thoughtsOf(message);
    const { content } = message;
    const said = Array.isArray(content)
      ? content.filter((part) => !isObject(part) || part.type !== "thinking")
      : content;
    return {
      ...message,
      ...(said === undefined ? {} : { content: Array.isArray(said) && said.length === 0 ? null : said }),
      ...(thoughts === undefined ? {} : { reasoning_content: thoughts }),
    };
  });
}
