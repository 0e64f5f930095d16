import { isObject, type Json } from "../../../json.ts";
import { mergeTurns, type PromptPart, type Turn } from "../../../text/prompt.ts";
import { requireArray, requireObject, requireOneOf } from "./check.ts";
import { invalid } from "./errors.ts";
import { readBlock } from "./read-blocks.ts";

const MAX_MESSAGES = 100_000;

function readContent(content: Json | undefined, path: string): PromptPart[] {
  if (typeof content === "string") {
    if (content === "") throw invalid("messages", "text content blocks must be non-empty");
    return [{ type: "text", text: content }];
  }
  const blocks = requireArray(content, path).map((block, at) => readBlock(block, `${path}.${at}`));
  const late = blocks.findIndex((block, at) => block.type === "result" && at > 0 && blocks[at - 1]?.type !== "result");
  if (late > 0) throw invalid(`${path}.${late}`, "`tool_result` blocks must come before all other content");
  return blocks;
}

/** Each call is answered in the next message, and each answer belongs to a call of the message before. */
function pairTools(turns: readonly Turn[]): void {
  for (const [at, turn] of turns.entries()) {
    const names = new Map<string, string>();
    for (const part of turns[at - 1]?.parts ?? []) if (part.type === "call") names.set(part.id, part.name);
    for (const [index, part] of turn.parts.entries()) {
      if (part.type !== "result") continue;
      const name = names.get(part.id);
      if (name === undefined) {
        throw invalid(
          `messages.${at}.content.${index}`,
          `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${part.id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
      }
      part.name = name;
      names.delete(part.id);
    }
    if (names.size > 0) throw unanswered(at - 1, [...names.keys()]);
  }
  const last = turns.at(-1)?.parts.flatMap((part) => (part.type === "call" ? [part.id] : [])) ?? [];
  if (last.length > 0) throw unanswered(turns.length - 1, last);
}

function unanswered(at: number, ids: string[]): Error {
  return invalid(
    `messages.${at}`,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

/** The conversation in the simulator's words; `systemRole` where the host version knows that role. */
export function readMessages(value: Json | undefined, systemRole: boolean): { turns: Turn[]; system: string[] } {
  const messages = requireArray(value, "messages");
  if (messages.length === 0) throw invalid("messages", "at least one message is required");
  if (messages.length > MAX_MESSAGES) throw invalid("messages", `List should have at most ${MAX_MESSAGES} items`);
  const roles = systemRole ? (["user", "assistant", "system"] as const) : (["user", "assistant"] as const);
  const turns: Turn[] = [];
  const system: string[] = [];
  for (const [at, item] of messages.entries()) {
    const message = requireObject(item, `messages.${at}`);
    const role = requireOneOf(message.role, roles, `messages.${at}.role`);
    const parts = readContent(message.content, `messages.${at}.content`);
    // The host's own answers may hold such blocks, and come back.
    if (role === "user" && parts.some((part) => part.type === "text" && part.text.trim() === ""))
      throw invalid("messages", "text content blocks must contain non-whitespace text");
    if (parts.length === 0 && !(role === "assistant" && at === messages.length - 1)) {
      throw invalid(
        `messages.${at}`,
        "all messages must have non-empty content except for the optional final assistant message",
      );
    }
    if (role === "system") system.push(...parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
    else turns.push({ role, parts });
  }
  if (turns[0]?.role !== "user") throw invalid("messages", 'first message must use the "user" role');
  const merged = mergeTurns(turns);
  pairTools(merged);
  return { turns: merged, system };
}

const blocksOf = (message: Json | undefined): Json[] =>
  isObject(message) && Array.isArray(message.content) ? message.content : [];

/**
 * With thinking on, the assistant's part of an unfinished tool turn has its thinking. A model that does not think between
 * its calls has thought before the first of them only, so that the other messages of the turn need none.
 */
export function requireThinkingFirst(value: Json | undefined): void {
  const messages = Array.isArray(value) ? value : [];
  const isResult = (block: Json) => isObject(block) && block.type === "tool_result";
  const asked = messages.findLastIndex(
    (message) => isObject(message) && message.role === "user" && !blocksOf(message).some(isResult),
  );
  const answers = messages.slice(asked + 1).filter((message) => isObject(message) && message.role === "assistant");
  const calls = answers.some((message) =>
    blocksOf(message).some((block) => isObject(block) && block.type === "tool_use"),
  );
  const firsts = answers.map((message) => {
    const [first] = blocksOf(message);
    return isObject(first) ? String(first.type) : "text";
  });
  const [first] = firsts;
  if (!calls || firsts.some((type) => type === "thinking" || type === "redacted_thinking")) return;
  throw invalid(
    `messages.${asked + 1}.content.0.type`,
    `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
}
