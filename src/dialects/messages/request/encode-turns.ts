import { type JsonObject, stringAt } from "../../../base/json.ts";
import { positionsOf } from "../../../base/positions-of.ts";
import type { CanonCall, Turn } from "../../../canon/call.ts";
import { fieldPath } from "../../../canon/field-names.ts";
import type { Notes } from "../../../canon/notes.ts";
import type { Part } from "../../../canon/part.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import { CONTINUE_PROMPT } from "../../request/continue-prompt.ts";
import type { MessagesQuirks } from "../quirks.ts";
import type { RequestContent } from "./request-content.ts";

export interface EncodedMessage extends JsonObject {
  role: "user" | "assistant" | "system";
  content: JsonObject[];
}

/** A placeholder where the conversation requires user text and has none. */
const NO_WORDS: JsonObject = { type: "text", text: "." };

/** System text at the beginning, wherever it came from. */
export function encodeSystem(call: CanonCall, content: RequestContent): JsonObject[] {
  const parts = [...call.system, ...leadingSystem(call).flatMap((turn) => turn.parts)];
  return parts.flatMap((part) => content.encode(part, "system"));
}

/** The conversation: user and assistant alternate, the user is first, and tool results come first in a user message. */
export function encodeTurns(
  call: CanonCall,
  content: RequestContent,
  { traits, quirks }: Pick<EncodeRequestContext<MessagesQuirks>, "traits" | "quirks">,
  notes: Notes,
): EncodedMessage[] {
  const messages: EncodedMessage[] = [];
  const takesSystem = quirks.systemMessages && traits.systemMessages === true;
  const turns = call.turns.slice(leadingSystem(call).length);
  for (const [index, turn] of turns.entries()) {
    if (turn.name !== undefined) {
      notes.dropped(fieldPath(call.fieldNames, turn.path, "name"), "this protocol has no participant names");
    }
    const before = messages.at(-1);
    const role = turn.role === "system" && !(takesSystem && standsRight(before, turns, index)) ? "user" : turn.role;
    const parts = turn.role === "system" && role === "user" ? inTags(turn, notes) : turn.parts;
    const blocks = parts.flatMap((part) => content.encode(part, role));
    const extras = call.dialect === "messages" ? turn.extras : undefined;
    if (before?.role === role) before.content.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, content: blocks, ...extras });
  }
  trimBeginning(messages, call, notes);
  if (traits.prefill === false && call.dialect !== "messages") askToGoOn(messages, call, notes);
  const first = messages[0];
  if (first?.role !== "user") {
    notes.approximated(
      call.turns[0]?.path ?? "messages",
      'this provider requires the first message to be from the user; "." was inserted',
    );
    messages.unshift({ role: "user", content: [NO_WORDS] });
  }
  return messages.map((message, index) => resultsFirst(message, messages[index - 1]));
}

/**
 * Hosts accept a system message after a user message if an assistant message or nothing follows it; several in a row become one.
 * A turn with nothing left in it does not count.
 */
function standsRight(before: EncodedMessage | undefined, turns: readonly Turn[], index: number): boolean {
  const after = turns.slice(index + 1).find(({ role }) => role !== "system");
  return (before?.role === "user" || before?.role === "system") && after?.role !== "user";
}

const leadingSystem = ({ turns }: CanonCall): readonly Turn[] => {
  const end = turns.findIndex(({ role }) => role !== "system");
  return end < 0 ? turns : turns.slice(0, end);
};

function inTags(turn: Turn, notes: Notes): Part[] {
  notes.approximated(turn.path, "this provider does not accept a system message here; sent as a user message in tags");
  return turn.parts.map((part) =>
    part.type === "text" && part.text.trim() !== "" ? { ...part, text: `<system>\n${part.text}\n</system>` } : part,
  );
}

/** Upstreams reject a prefill that ends in white space. */
function trimBeginning(messages: EncodedMessage[], { turns }: CanonCall, notes: Notes): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  const text = stringAt(block, "text");
  if (last?.role !== "assistant" || text === undefined || text === text.trimEnd()) return;
  notes.approximated(
    turns.at(-1)?.parts.at(-1)?.path ?? turns.at(-1)?.path ?? "messages",
    "this provider rejects trailing whitespace in a partial response; it was removed",
  );
  last.content[last.content.length - 1] = { ...block, text: text.trimEnd() };
}

/** Newer models reject a conversation that ends with an assistant message. */
function askToGoOn(messages: EncodedMessage[], { turns }: CanonCall, notes: Notes): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.content.some((block) => block["type"] === "tool_use")) return;
  notes.approximated(
    turns.at(-1)?.path ?? "messages",
    "the model cannot continue a partial response; an instruction to continue was added",
  );
  messages.push({ role: "user", content: [{ type: "text", text: CONTINUE_PROMPT }] });
}

/** In the order of the calls; results of other calls follow. */
function resultsFirst(message: EncodedMessage, before: EncodedMessage | undefined): EncodedMessage {
  const isResult = (block: JsonObject) => block["type"] === "tool_result";
  if (message.role !== "user" || !message.content.some(isResult)) return message;
  const calls = (before?.content ?? []).map((block) => stringAt(block, "id"));
  const positions = positionsOf(calls);
  const rank = (block: JsonObject) => positions.get(stringAt(block, "tool_use_id")) ?? calls.length;
  const results = message.content.filter(isResult).sort((one, other) => rank(one) - rank(other));
  return { ...message, content: [...results, ...message.content.filter((block) => !isResult(block))] };
}

/**
 * Whether the model is in the middle of using tools without having thought, or is to continue a prefill: hosts that receive a
 * thinking budget then require the thinking that came first.
 */
export function lacksThinking(messages: readonly EncodedMessage[]): boolean {
  const asked = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some((block) => block["type"] === "tool_result"),
  );
  const answers = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
  return answers.length > 0 && !answers.some(({ content }) => THINKING.includes(content[0]?.["type"]));
}

const THINKING: readonly unknown[] = ["thinking", "redacted_thinking"];
