import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../canon/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { type BodySource, editBody } from "../../wire/edit-body.ts";
import { changeValue, ObjectEdit } from "../../wire/json-text.ts";
import type {
  NativeAnswer,
  NativeAnswerContext,
  NativeRequest,
  NativeRequestContext,
  ReceivedRequest,
} from "../dialect.ts";
import { noteRouting, ROUTING_FIELDS } from "../routing-fields.ts";
import { hiddenError } from "./errors.ts";
import { nearestEffort } from "./reasoning.ts";
import { contractFinishReason, decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

const REASONING_FIELDS = ["reasoning", "reasoning_content", "reasoning_details"];

export function prepareRequest(request: ReceivedRequest, context: NativeRequestContext): NativeRequest {
  const { body } = request;
  const notes: FieldNote[] = [];
  const set: Record<string, string> = { model: JSON.stringify(context.upstreamModel) };
  const rename: Record<string, string> = {};
  const remove = ["usage", ...ROUTING_FIELDS];
  noteRouting(body, notes);
  limitOutput(body, context, { set, rename, remove, notes });
  if (context.quirks.reasoningField === "reasoning_effort") translateReasoning(body, { set, rename, remove, notes });
  if (context.stream && context.quirks.askStreamUsage && objectAt(body, "stream_options")?.["include_usage"] !== true) {
    set["stream_options"] = JSON.stringify({ ...objectAt(body, "stream_options"), include_usage: true });
  }
  const source = stripReasoningHistory(request, context, notes);
  return { payload: editBody(source, { set, rename, remove }, (key) => key in body), notes };
}

interface Changes {
  set: Record<string, string>;
  rename: Record<string, string>;
  remove: string[];
  notes: FieldNote[];
}

function limitOutput(body: JsonObject, context: NativeRequestContext, { set, rename, remove, notes }: Changes): void {
  const wanted = numberAt(body, "max_completion_tokens");
  const legacy = numberAt(body, "max_tokens");
  const path = wanted === undefined ? "max_tokens" : "max_completion_tokens";
  const field = context.quirks.maxTokensField;
  if (wanted !== undefined && "max_tokens" in body) {
    remove.push("max_tokens");
    notes.push({ path: "max_tokens", action: "dropped", reason: "max_completion_tokens is given too" });
  }
  if (path in body && path !== field) rename[path] = field;
  const limit = wanted ?? legacy;
  if (limit !== undefined && context.maxOutputTokens !== undefined && limit > context.maxOutputTokens) {
    set[path] = String(context.maxOutputTokens);
    notes.push({ path, action: "approximated", reason: `the model's limit is ${context.maxOutputTokens}` });
  }
}

/** The contract's `reasoning` object as the `reasoning_effort` that the host knows. */
function translateReasoning(body: JsonObject, { set, remove, notes }: Changes): void {
  if (!("reasoning" in body)) return;
  remove.push("reasoning");
  const reasoning = objectAt(body, "reasoning");
  if (!reasoning || stringAt(body, "reasoning_effort") !== undefined) return;
  const effort = stringAt(reasoning, "effort");
  const budget = numberAt(reasoning, "max_tokens");
  if (reasoning["enabled"] === false) set["reasoning_effort"] = '"none"';
  else if (effort !== undefined) set["reasoning_effort"] = JSON.stringify(effort);
  else if (budget !== undefined) {
    const nearest = nearestEffort(budget);
    set["reasoning_effort"] = JSON.stringify(nearest);
    const reason = `this provider takes an effort, not a budget; ${nearest} was sent`;
    notes.push({ path: "reasoning.max_tokens", action: "approximated", reason });
  } else if (reasoning["enabled"] === true) {
    set["reasoning_effort"] = '"medium"';
    const reason = "this provider takes an effort; medium was sent";
    notes.push({ path: "reasoning.enabled", action: "approximated", reason });
  }
}

/** Clients must send their reasoning back (contract 2.12), and hosts that never made any refuse to see it. */
function stripReasoningHistory(
  request: ReceivedRequest,
  context: NativeRequestContext,
  notes: FieldNote[],
): BodySource {
  if (context.quirks.reasoningHistory === "keep") return request;
  let { text } = request;
  for (const [index, message] of arrayAt(request.body, "messages").entries()) {
    const present = isObject(message) ? REASONING_FIELDS.filter((field) => field in message) : [];
    if (present.length === 0) continue;
    text = changeValue(text, ["messages", index], (value) => withoutMembers(value, present));
    for (const field of present) {
      notes.push({ path: `messages[${index}].${field}`, action: "dropped", reason: "this provider takes none back" });
    }
  }
  return text === request.text ? request : { text };
}

function withoutMembers(objectText: string, keys: readonly string[]): string {
  const edit = new ObjectEdit(objectText);
  for (const key of keys) edit.remove(key);
  return edit.toString();
}

export function patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext): NativeAnswer {
  const failure = hiddenError(body);
  if (failure) throw failure;
  const usage = decodeUsage(body["usage"]);
  let stop: NativeAnswer["stop"];
  let data = text;
  for (const [position, choice] of arrayAt(body, "choices").entries()) {
    const finish = stringAt(choice, "finish_reason");
    if (finish) {
      stop ??= decodeStop(finish);
      const word = contractFinishReason(finish);
      if (word !== finish) data = changeValue(data, ["choices", position, "finish_reason"], () => JSON.stringify(word));
    }
    data = patchMessage(data, ["choices", position, "message"], objectAt(choice, "message") ?? {}, context);
  }
  if (usage && wantsCost(context.request)) {
    const cost = String(context.costUsd(usage));
    data = changeValue(data, ["usage"], (value) => new ObjectEdit(value).set("cost", cost).toString());
  }
  const set: Record<string, string> = { model: JSON.stringify(context.publicModel) };
  if (!body["id"]) set["id"] = JSON.stringify(`chatcmpl-${context.makeId()}`);
  return { text: String(editBody({ text: data }, { set }, (key) => key in body)), usage, stop };
}

function patchMessage(
  text: string,
  path: readonly (string | number)[],
  message: JsonObject,
  context: NativeAnswerContext,
): string {
  let data = text;
  for (const [position, call] of arrayAt(message, "tool_calls").entries()) {
    if (stringAt(call, "id")) continue;
    const id = JSON.stringify(`call_${context.makeId()}`);
    data = changeValue(data, [...path, "tool_calls", position], (value) =>
      new ObjectEdit(value).set("id", id).toString(),
    );
  }
  const reasoning = mirrorReasoning(message, hidesReasoning(context.request));
  return reasoning ? changeValue(data, path, reasoning.change) : data;
}

export const hidesReasoning = (request: JsonObject) => objectAt(request, "reasoning")?.["exclude"] === true;
export const wantsCost = (request: JsonObject) => objectAt(request, "usage")?.["include"] === true;
export const wantsUsage = (request: JsonObject) =>
  objectAt(request, "stream_options")?.["include_usage"] === true || wantsCost(request);

/** Makes `reasoning` and `reasoning_content` say the same (contract 2.13), or takes both out where they are to be hidden. */
export function mirrorReasoning(
  holder: JsonObject,
  hide: boolean,
): { change: (text: string) => string; emptied: boolean } | undefined {
  if (hide) {
    const present = REASONING_FIELDS.filter((field) => field in holder);
    if (present.length === 0) return undefined;
    const change = (text: string) => withoutMembers(text, present);
    const others = Object.entries(holder).filter(([key, value]) => !present.includes(key) && key !== "role" && value);
    return { change, emptied: others.length === 0 };
  }
  const reasoning = stringAt(holder, "reasoning");
  const content = stringAt(holder, "reasoning_content");
  if (reasoning === content) return undefined;
  const value = JSON.stringify(content ?? reasoning);
  const change = (text: string) =>
    new ObjectEdit(text).set("reasoning", value).set("reasoning_content", value).toString();
  return { change, emptied: false };
}
