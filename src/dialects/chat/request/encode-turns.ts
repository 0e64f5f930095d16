import type { JsonObject } from "../../../base/json.ts";
import type { Turn } from "../../../canon/call.ts";
import type { Part, ToolResultPart } from "../../../canon/part.ts";
import { resultsBeforeSystem } from "../../../canon/result-order.ts";
import { CONTINUE_PROMPT } from "../../request/continue-prompt.ts";
import { encodeParts, joinedContent, leaveOut, plainContent } from "../content.ts";
import { withExtras } from "../part-fields.ts";
import { encodeAssistant } from "./encode-assistant.ts";
import { ownExtras, type RequestScope } from "./request-scope.ts";
import { encodeToolResult } from "./tool-result.ts";

/** Between texts that were written as paragraphs of one instruction. */
const PARAGRAPH = "\n\n";

/** The whole conversation, system text first. */
export function encodeTurns(scope: RequestScope, instruction: string | undefined): JsonObject[] {
  const turns = joinAnswers(scope);
  const messages = encodeSystem(scope, instruction);
  for (let at = 0; at < turns.length; ) {
    const turn = turns[at];
    if (turn === undefined) break;
    if (turn.role === "user") {
      let end = at + 1;
      while (turns[end]?.role === "user") end += 1;
      for (const message of encodeUserTurns(turns.slice(at, end), turns[at - 1], scope)) messages.push(message);
      at = end;
      continue;
    }
    if (isForeign(turn.parts)) for (const part of turn.parts) leaveOut(part, scope);
    else if (turn.role === "assistant") messages.push(encodeAssistant(turn, scope));
    else messages.push(encodeTurn(turn, "system", joinedContent(encodeParts(turn.parts, scope), PARAGRAPH), scope));
    at += 1;
  }
  // Instructions without text leave no message, and providers reject a request without messages.
  if (messages.length === 0) return [{ role: "user", content: "" }];
  return withPrefill(messages, scope);
}

/**
 * Joins an answer that a client of another dialect spread over several turns, one for each streamed chunk. Here an answer with calls is one
 * message, which must be followed by the results.
 */
function joinAnswers({ call, notes }: RequestScope): readonly Turn[] {
  if (call.dialect === "chat") return call.turns;
  const runs: Turn[][] = [];
  const reason = "tool results must directly follow their calls; the message was moved after them";
  for (const turn of resultsBeforeSystem(call.turns, ({ path }) => notes.approximated(path, reason))) {
    const last = runs.at(-1);
    if (turn.role === "assistant" && last?.[0]?.role === "assistant") last.push(turn);
    else runs.push([turn]);
  }
  return runs.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    return others.length === 0 ? first : { ...first, parts: [first, ...others].flatMap(({ parts }) => parts) };
  });
}

/** One message for all system texts, except for those that had their own fields, which are in an empty text before them. */
function encodeSystem(scope: RequestScope, instruction: string | undefined): JsonObject[] {
  const messages: { of?: string; own: JsonObject; parts: JsonObject[] }[] = [];
  for (const part of scope.call.system) {
    const of = /^messages\[\d+\]/.exec(part.path ?? "")?.[0];
    const last = messages.at(-1);
    if (of !== undefined && part.path === of) messages.push({ of, own: ownExtras(scope, part.extras), parts: [] });
    else if (last === undefined || (last.of !== undefined && last.of !== of)) {
      messages.push({ own: {}, parts: encodeParts([part], scope) });
    } else last.parts.push(...encodeParts([part], scope));
  }
  if (instruction !== undefined) {
    const said = { type: "text", text: instruction };
    const last = messages.at(-1);
    if (last === undefined || last.of !== undefined) messages.push({ own: {}, parts: [said] });
    else last.parts.push(said);
  }
  return messages
    .filter(({ parts }) => parts.length > 0)
    .map(({ parts, own }) => withExtras({ role: "system", content: joinedContent(parts, PARAGRAPH) }, own));
}

function encodeTurn(turn: Turn, role: string, content: unknown, scope: RequestScope): JsonObject {
  const named = turn.name === undefined ? {} : { name: turn.name };
  return withExtras({ role, content, ...named }, ownExtras(scope, turn.extras));
}

/** Results directly follow the message with their calls, in its order. The user's other content comes after them. */
function encodeUserTurns(turns: readonly Turn[], before: Turn | undefined, scope: RequestScope): JsonObject[] {
  const results = turns.flatMap((turn) => turn.parts.filter((part) => part.type === "tool-result"));
  const encoded = inCallOrder(results, before).map((result) => encodeToolResult(result, scope));
  let media = encoded.flatMap((result) => result.media);
  const messages = encoded.map((result) => result.message);
  for (const turn of turns) {
    const said: Part[] = turn.parts.filter((part) => part.type !== "tool-result");
    if (said.length === 0 && turn.parts.length > 0) continue;
    const content = [...media, ...encodeParts(said, scope)];
    if (content.length === 0 && isForeign(said)) continue;
    messages.push(encodeTurn(turn, "user", plainContent(content), scope));
    media = [];
  }
  return media.length === 0 ? messages : [...messages, { role: "user", content: media }];
}

/** Whether there are only blocks of another protocol, so that no message remains without them. */
const isForeign = (parts: readonly Part[]): boolean =>
  parts.length > 0 && parts.every((part) => part.type === "native" && part.dialect !== "chat");

function inCallOrder(results: readonly ToolResultPart[], before: Turn | undefined): ToolResultPart[] {
  const order = new Map<string, number>();
  for (const part of before?.parts ?? []) if (part.type === "tool-call") order.set(part.id, order.size);
  const rank = (result: ToolResultPart) => order.get(result.callId) ?? order.size;
  return results.toSorted((one, other) => rank(one) - rank(other));
}

/** Marks a partial assistant message for the model to continue (contract 2.10). The protocol itself does not guarantee it. */
function withPrefill(messages: JsonObject[], { call, context, notes }: RequestScope): JsonObject[] {
  const last = messages.at(-1);
  if (last?.["role"] !== "assistant" || last["tool_calls"] !== undefined) return messages;
  const { traits, quirks } = context;
  if (quirks.prefill === "prefix" && traits.prefill !== false) {
    return [...messages.slice(0, -1), { ...last, prefix: true }];
  }
  if (call.dialect === "chat" || (traits.prefill ?? quirks.prefill === "plain")) return messages;
  notes.approximated(
    call.turns.at(-1)?.path ?? "messages",
    "the model cannot continue a partial response; an instruction to continue was added",
  );
  return [...messages, { role: "user", content: CONTINUE_PROMPT }];
}
