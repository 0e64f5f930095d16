import { type JsonObject, parseObject } from "../../../base/json.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import type { Turn } from "../../../canon/call.ts";
import type {
  NativePart,
  Part,
  ReasoningPart,
  RefusalPart,
  ServerToolCallPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../canon/part.ts";
import { digestOfText, fitToolId, type ToolIdRule } from "../../../canon/tool-id.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { readQueries } from "../../answer/search-queries.ts";
import { CONTINUE_PROMPT } from "../../request/continue-prompt.ts";
import { encodeContent, noteCache, plainContent, withMark } from "./encode-content.ts";
import { isClientItem } from "./is-client-item.ts";
import { idOfFormat } from "./reasoning.ts";
import { isOwn, knowsTool, leaveOut, ownExtras, pathIn, type RequestScope } from "./request-scope.ts";

/** R9: providers return 400 for longer ids, in every turn that repeats them. */
export const CALL_ID: ToolIdRule = { pattern: /^[\s\S]{1,64}$/, make: (seed) => `call_${seed}` };

const ERROR_PREFIX = "Error: ";

/** The conversation as input items. */
export function encodeItems(scope: RequestScope): JsonObject[] {
  const items = scope.call.turns.flatMap((turn) =>
    turn.role === "assistant" ? encodeAnswer(turn, scope) : encodeAsked(turn, scope),
  );
  return withPrefill(items, scope);
}

/** A user message after the tool results of its turn, or a system message within the conversation, in its place (R15). */
function encodeAsked(turn: Turn, scope: RequestScope): JsonObject[] {
  noteName(turn, scope);
  const said = turn.parts.filter((part) => !isItem(part));
  const items = turn.parts
    .filter(isItem)
    .map((part) => (part.type === "native" ? part.raw : encodeResult(part, scope)));
  if (said.length === 0 && items.length > 0) return items;
  const content = plainContent(encodeContent(said, scope));
  return [...items, { type: "message", role: turn.role, content, ...ownExtras(scope, turn.extras) }];
}

/** Whether a part is a separate item: a tool result, or an item that exists only in this protocol. */
const isItem = (part: Part): part is ToolResultPart | NativePart =>
  part.type === "tool-result" || (part.type === "native" && part.dialect === "responses" && isClientItem(part.name));

function noteName({ name, path }: Turn, scope: RequestScope): void {
  if (name !== undefined)
    scope.notes.dropped(pathIn(scope, { path }, "name"), "this protocol has no participant names");
}

/** R14: a text stays a text, and parts stay parts. */
function encodeResult(result: ToolResultPart, scope: RequestScope): JsonObject {
  const own = ownForm(result.native, result.callId, scope);
  if (own !== undefined) return own;
  const given = encodeContent(result.isError ? markError(result, scope) : result.content, scope);
  if (given.length === 0 && result.response !== undefined)
    given.push({ type: "input_text", text: stringifyInOrder(result.response) });
  const content = withMark(given, result, scope);
  return {
    type: result.custom ? "custom_tool_call_output" : "function_call_output",
    call_id: fitToolId(result.callId, CALL_ID),
    output: plainContent(content),
    ...ownExtras(scope, result.extras),
  };
}

/** Results have no error flag. */
function markError(result: ToolResultPart, scope: RequestScope): ToolResultPart["content"] {
  const reason = "tool results in this protocol have no error flag; the text was prefixed instead";
  scope.notes.approximated(pathIn(scope, result, "isError"), reason);
  const first = result.content.findIndex((part) => part.type === "text");
  if (first < 0) return [{ type: "text", text: ERROR_PREFIX.trimEnd() }, ...result.content];
  return result.content.map((part, index) =>
    index === first && part.type === "text" ? { ...part, text: ERROR_PREFIX + part.text } : part,
  );
}

/** An earlier answer, of this model or another. Each block is an item, and adjacent texts are one message. */
function encodeAnswer(turn: Turn, scope: RequestScope): readonly JsonObject[] {
  noteName(turn, scope);
  const items: JsonObject[] = [];
  let said: JsonObject[] = [];
  let own = ownExtras(scope, turn.extras);
  const flush = () => {
    if (said.length > 0) items.push({ type: "message", role: "assistant", content: plainContent(said), ...own });
    if (said.length > 0) own = ownExtras(scope, turn.extras);
    said = [];
  };
  for (const part of turn.parts) {
    noteCache(part, scope);
    // A message's own fields are in an empty text before its others (R30).
    if (part.type === "text" && part.text === "" && part.extras !== undefined) {
      flush();
      own = { ...own, ...ownExtras(scope, part.extras) };
    } else if (part.type === "text" || part.type === "refusal") {
      said.push(...encodeSaid(part, scope));
    } else {
      const item = encodeAnswerItem(part, scope);
      if (item === undefined) continue;
      flush();
      items.push(item);
    }
  }
  flush();
  return withoutLoneThoughts(items, turn, scope);
}

function encodeSaid(part: TextPart | RefusalPart, scope: RequestScope): JsonObject[] {
  if (part.type === "refusal") return [{ type: "refusal", refusal: part.text, ...ownExtras(scope, part.extras) }];
  noteSignature(part, scope);
  if (part.citations !== undefined && part.citations.length > 0) {
    scope.notes.dropped(
      pathIn(scope, part, "citations"),
      "providers of this protocol do not need citations in the history",
    );
  }
  return part.text === "" ? [] : [{ type: "output_text", text: part.text, ...ownExtras(scope, part.extras) }];
}

function encodeAnswerItem(part: Part, scope: RequestScope): JsonObject | undefined {
  switch (part.type) {
    case "reasoning":
      return encodeThought(part, scope);
    case "tool-call":
      return encodeCall(part, scope);
    case "server-tool-call":
      if (part.name === WEB_SEARCH) return encodeSearch(part);
      break;
    case "server-tool-result":
      scope.notes.dropped(part.path ?? part.type, "search items in this protocol have no field for results");
      return undefined;
    case "native":
      if (part.dialect === "responses") return part.raw;
      break;
    default:
      break;
  }
  leaveOut(part, scope);
  return undefined;
}

/** R10, R11: an encrypted value returns with its id to the provider that created it. Thoughts never become text. */
function encodeThought(part: ReasoningPart, scope: RequestScope): JsonObject | undefined {
  const { context, notes } = scope;
  const { text, summary, signature } = part;
  const extras = ownExtras(scope, part.extras);
  if (signature?.origin === context.origin && signature.kind === "encrypted") {
    const id = idOfFormat(signature.format) ?? `rs_${digestOfText(signature.value)}`;
    return {
      type: "reasoning",
      id,
      ...encodeThoughtText(text, summary),
      encrypted_content: signature.value,
      ...extras,
    };
  }
  if (signature !== undefined) noteSignature(part, scope);
  if (text === "") return undefined;
  if (context.quirks.openReasoning) {
    return { type: "reasoning", id: `rs_${digestOfText(text)}`, ...encodeThoughtText(text, summary), ...extras };
  }
  notes.dropped(part.path ?? "reasoning", "this provider accepts only reasoning that it encrypted itself");
  return undefined;
}

function encodeThoughtText(text: string, summary: boolean | undefined): JsonObject {
  if (text === "") return { summary: [] };
  if (summary) return { summary: [{ type: "summary_text", text }] };
  return { summary: [], content: [{ type: "reasoning_text", text }] };
}

/** Reasoning without text consists only of its encrypted value. */
function noteSignature(part: Part, scope: RequestScope): void {
  if (part.signature === undefined) return;
  const whole = part.type === "reasoning" && part.text === "" ? part.path : undefined;
  scope.notes.dropped(whole ?? pathIn(scope, part, "signature"), "only the provider that created it can read it");
}

/** The item of a tool that models of this dialect know by its type, for a provider that supports it. */
function ownForm(native: ToolCallPart["native"], id: string, scope: RequestScope): JsonObject | undefined {
  if (native?.dialect !== "responses" || !knowsTool(scope, native.tool)) return undefined;
  const { raw } = native;
  return typeof raw["call_id"] === "string" ? { ...raw, call_id: fitToolId(id, CALL_ID) } : raw;
}

function encodeCall(part: ToolCallPart, scope: RequestScope): JsonObject {
  noteSignature(part, scope);
  const own = ownForm(part.native, part.id, scope);
  if (own !== undefined) return own;
  const call_id = fitToolId(part.id, CALL_ID);
  const extras = ownExtras(scope, part.extras);
  const named = scope.loaded?.toolOf(part.name) ?? { name: part.name };
  if (part.custom) return { type: "custom_tool_call", call_id, ...named, input: part.input, ...extras };
  // Providers parse the arguments.
  const written = part.input === "" ? "{}" : part.input;
  return { type: "function_call", call_id, ...named, arguments: written, ...extras };
}

/** Searches of other protocols get new ids. */
function encodeSearch({ id, input }: ServerToolCallPart): JsonObject {
  const queries = readQueries(parseObject(input));
  const [query = ""] = queries;
  return {
    type: "web_search_call",
    id: id.startsWith("ws_") ? id : `ws_${digestOfText(id)}`,
    status: "completed",
    action: { type: "search", query, ...(queries.length > 1 ? { queries } : {}) },
  };
}

/** Providers reject reasoning without other items of the same answer, which a client may have removed. */
function withoutLoneThoughts(items: readonly JsonObject[], turn: Turn, { notes }: RequestScope): readonly JsonObject[] {
  if (items.length === 0 || items.some((item) => item["type"] !== "reasoning")) return items;
  notes.dropped(turn.path, "reasoning cannot be sent without the output that followed it");
  return [];
}

/** This protocol has no partial answers. A model that is not known to continue them gets an instruction to do so (contract 2.10). */
function withPrefill(items: JsonObject[], scope: RequestScope): JsonObject[] {
  const last = items.at(-1);
  if (isOwn(scope) || scope.context.traits.prefill || last?.["role"] !== "assistant") return items;
  const reason = "the model cannot continue a partial response; an instruction to continue was added";
  scope.notes.approximated(scope.call.turns.at(-1)?.path ?? "input", reason);
  return [...items, { type: "message", role: "user", content: CONTINUE_PROMPT }];
}
